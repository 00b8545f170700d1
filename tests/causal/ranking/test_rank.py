"""Root causes are ranked by what their own change adds to the target; calm windows get no cause."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.ranking.rank import causes_of, rank, render_ranking
from coherence.causal.ranking.rules import RULES, chance, largest_anomaly, ranked_correlation, traversal
from coherence.causal.ranking.slopes import Slopes, least, moments, own, split

CAUSES = {"front": ("search", "pay"), "search": ("store",), "pay": ("bank",)}
NAMES = ("front", "search", "pay", "store", "bank")


def times(count: int, seed: int, extra: dict[str, Floats] | None = None) -> Series:
    """Time of each service in a request of the front: callers contain their callees."""
    random = np.random.default_rng(seed)
    own_time = {name: 0.1 + 0.01 * random.standard_normal(count) + (extra or {}).get(name, 0.0) for name in NAMES}
    spent: dict[str, Floats] = {}
    for name in ("store", "bank", "search", "pay", "front"):
        spent[name] = np.asarray(own_time[name] + sum((spent[one] for one in CAUSES.get(name, ())), np.zeros(count)))
    return Series(NAMES, np.column_stack([spent[name] for name in NAMES]), 300.0, 0.0, dict.fromkeys(NAMES, "s"))


BUMP = np.array([0.0, 0.0, 0.3, 0.2, 0.0])


@pytest.mark.parametrize("culprit", NAMES)
@pytest.mark.parametrize("calls", [True, False])
def test_the_service_that_became_slow_comes_first_and_not_its_callers(culprit: str, *, calls: bool) -> None:
    found = rank(times(600, 1), times(5, 2, {culprit: BUMP}), CAUSES, "front", calls=calls)
    assert found.names[0] == culprit
    assert found.claims_cause
    assert found.causes[0].share > 0.8
    assert found.reference == "the window"


def test_an_incident_that_fills_the_window_is_seen_over_normal_data() -> None:
    found = rank(times(600, 1), times(5, 2, {"store": np.full(5, 0.4)}), CAUSES, "front", calls=True)
    assert found.reference == "normal data"
    assert found.names[0] == "store"
    assert found.claims_cause


def test_drift_of_an_innocent_service_since_the_normal_data_is_no_cause() -> None:
    drifted = {"bank": np.full(5, 1.0), "store": BUMP}
    found = rank(times(600, 1), times(5, 2, drifted), CAUSES, "front", calls=True)
    assert found.names[0] == "store"
    assert RULES["largest anomaly"](times(600, 1), times(5, 2, drifted), CAUSES, "front")[0] != "store"


@pytest.mark.slow
def test_calm_windows_get_a_cause_as_rarely_as_promised() -> None:
    normal = times(600, 1)
    claims = [rank(normal, times(5, seed), CAUSES, "front", calls=True).claims_cause for seed in range(100, 124)]
    assert sum(claims) <= 5, "5 % of 24 are 1.2; 5 are beyond three standard errors"
    told = render_ranking(rank(normal, times(5, 100), CAUSES, "front", calls=True))
    assert len(told) == 1
    assert "no cause found (p = " in told[0]


def test_the_answer_tells_the_part_the_spread_and_the_unit() -> None:
    told = render_ranking(rank(times(600, 1), times(5, 2, {"store": BUMP}), CAUSES, "front", calls=True))
    assert told[0].startswith("front: 0.1")
    assert " s beyond the window (root mean square), p = " in told[0]
    assert told[1].startswith("1. store: 0.1")
    assert "times its normal spread" in told[1]


def test_a_slow_host_shows_in_every_call_that_it_measures() -> None:
    causes = {"front": ("host",), "host": ("call a", "call b", "call c")}
    random = np.random.default_rng(3)

    def made(count: int, extra: Floats | float) -> Series:
        calls = [0.1 + 0.01 * random.standard_normal(count) + extra for _ in range(3)]
        host = 0.1 + 0.01 * random.standard_normal(count) + extra + sum(calls)
        front = 0.1 + 0.01 * random.standard_normal(count) + host
        return Series(("front", "host", "call a", "call b", "call c"), np.column_stack([front, host, *calls]), 1.0)

    normal, incident = made(600, 0.0), made(5, BUMP)
    by = dict.fromkeys(("call a", "call b", "call c"), "host")
    assert rank(normal, incident, causes, "front", calls=True, measured_by=by).names[0] == "host"
    shares = {one.node: one.share for one in rank(normal, incident, causes, "front", calls=True).causes}
    assert max(shares.values()) < 0.5, "without that knowledge each part counts alone"


def test_delays_and_negative_influences_are_followed() -> None:
    random = np.random.default_rng(4)

    def made(count: int, extra: Floats | float) -> Series:
        cache = random.standard_normal(count + 3) * 0.1
        cache[3:] += extra
        store = random.standard_normal(count + 3) * 0.1
        store[2:] += -2.0 * cache[:-2]
        late = random.standard_normal(count + 3) * 0.1
        late[1:] += 0.5 * store[:-1]
        return Series(("late", "store", "cache"), np.column_stack([late, store, cache])[3:], 1.0)

    extra = np.zeros(30)
    extra[8:15] = -2.0
    causes = {"late": (("store", 1), ("late", 1)), "store": (("cache", 2),)}
    found = rank(made(3000, 0.0), made(30, extra), causes, "late")
    assert found.names[0] == "cache"
    assert found.claims_cause
    graph = CausalGraph(("late", "store", "cache"), (Influence("store", "late"), Influence("cache", "store")))
    assert causes_of(made(100, 0.0), graph) == {"late": (("store", 0),), "store": (("cache", 0),)}


def test_what_is_missing_is_named() -> None:
    incident = times(5, 2, {"store": BUMP})
    values = incident.values.copy()
    values[1, NAMES.index("pay")] = np.nan
    values[:, NAMES.index("bank")] = np.nan
    holed = Series(NAMES, values, 300.0)
    causes = CAUSES | {"bank": ("vault",)}
    found = rank(times(600, 1), holed, causes, "front", calls=True)
    assert found.names[0] == "store"
    told = {one.what: one.why for one in found.excluded}
    assert told["pay"] == "1 of 5 samples of the incident are missing"
    assert told["bank"] == "has no values in the incident"
    assert told["vault"] == "is not in the normal data"


def test_what_cannot_be_asked_is_said() -> None:
    normal, incident = times(600, 1), times(5, 2)
    with pytest.raises(UsageError, match="no signal 'frnt' to explain: did you mean 'front'"):
        rank(normal, incident, CAUSES, "frnt")
    with pytest.raises(UsageError, match="600 normal and 1 incident samples"):
        rank(normal, times(1, 2), CAUSES, "front")
    with pytest.raises(UsageError, match="'front' has no values"):
        rank(normal, Series(NAMES, np.full((5, 5), np.nan), 1.0), CAUSES, "front")


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_signals_that_never_move_are_no_cause(level: float) -> None:
    still = Series(NAMES, np.full((600, 5), level), 1.0)
    found = rank(still, Series(NAMES, np.full((5, 5), level), 1.0), CAUSES, "front", calls=True)
    assert not found.claims_cause
    assert found.causes == ()
    assert render_ranking(found)[0].startswith("front: no cause found (nothing exceeds its normal spread")


def test_a_first_failure_ever_is_seen() -> None:
    values = np.zeros((5, 5))
    values[2, [NAMES.index(name) for name in ("front", "search")]] = 1.0
    found = rank(Series(NAMES, np.zeros((600, 5)), 1.0), Series(NAMES, values, 1.0), CAUSES, "front", calls=True)
    assert found.names[0] == "search"
    assert found.claims_cause
    assert "normally never there" in found.causes[0].words


def test_circles_of_influence_are_split_too() -> None:
    causes = {"front": ("search",), "search": ("store", "front"), "store": ()}
    assert rank(times(600, 1), times(5, 2, {"store": BUMP}), causes, "front").names[0] == "store"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 6), st.integers(1, 12), st.integers(0, 3), st.integers(0, 2**31 - 1),
)  # fmt: skip
def test_parts_sum_to_the_excess_whatever_the_slopes(size: int, length: int, deepest: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    slopes = random.uniform(-0.4, 0.4, (deepest + 1, size, size)) / size
    excess = random.standard_normal((length, size))
    weights = random.standard_normal(length)
    parts = split(excess, slopes, 0, weights)
    assert float(parts.sum()) == pytest.approx(float(weights @ excess[:, 0]), rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.integers(2, 9), st.integers(0, 2**31 - 1))
def test_a_part_is_what_the_target_loses_when_that_change_is_taken_away(size: int, length: int, seed: int) -> None:
    """Brute force: run the recursion again without one signal's own part."""
    random = np.random.default_rng(seed)
    slopes = random.uniform(-0.4, 0.4, (3, size, size)) / size
    excess = random.standard_normal((length, size))
    weights = random.standard_normal(length)
    parts, chance_of = split(excess, slopes, 0, weights), own(excess, slopes)
    for signal in range(size):
        without = chance_of.copy()
        without[:, signal] = 0.0
        again = np.zeros_like(excess)
        for time in range(length):
            drive = without[time] + sum(
                (slopes[lag] @ again[time - lag] for lag in range(1, 3) if lag <= time), np.zeros(size)
            )
            again[time] = np.linalg.solve(np.eye(size) - slopes[0], drive)
        assert float(weights @ (excess - again)[:, 0]) == pytest.approx(float(parts[signal]), rel=1e-8, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**31 - 1))
def test_bounded_slopes_are_the_best_within_the_bounds(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    columns, target = random.standard_normal((40, size)), random.standard_normal(40)
    gram, right = columns.T @ columns, columns.T @ target + 20 * random.standard_normal(size)
    found = least(gram, right, (0.0, 1.0))
    slack = gram @ found - right
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.abs(slack[(found > 1e-9) & (found < 1 - 1e-9)]) < 1e-2).all()
    assert (slack[found <= 1e-9] > -1e-2).all()
    assert (slack[found >= 1 - 1e-9] < 1e-2).all()


def test_slopes_of_columns_that_are_the_same_or_never_move() -> None:
    same = np.ones((2, 2))
    np.testing.assert_allclose(least(same, np.ones(2), (-np.inf, np.inf)), [0.5, 0.5], rtol=1e-6)
    np.testing.assert_array_equal(least(np.zeros((2, 2)), np.zeros(2), (0.0, 1.0)), [0.0, 0.0])
    gram, right = moments(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 2.0]]), ((0, 1),), 1)
    assert (gram.item(), right.item()) == (5.0, 5.0)
    assert Slopes((((1, 2),), ()), (np.array([0.5]), np.zeros(0))).matrices().shape == (3, 2, 2)


def test_simple_rules() -> None:
    normal, incident = times(600, 1), times(5, 2, {"store": BUMP * 5})
    assert traversal(normal, incident, CAUSES, "front") == ("store",)
    assert set(largest_anomaly(normal, incident, CAUSES, "front")) == {"search", "store"}
    assert set(ranked_correlation(normal, incident, CAUSES, "front")) == {"search", "store"}
    assert all(rule(normal, times(5, 9), CAUSES, "front") == () for rule in RULES.values())
    assert [float(chance(*one)) for one in ((10, 3), (2, 3), (0, 1))] == [0.3, 1.0, 0.0]
