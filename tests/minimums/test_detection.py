"""Detection, agreement and eviction: what is run never beats the floors."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.minimums.consensus import Agreement
from coherence.minimums.detection import binary_divergence, ratio_of, wald_walk
from coherence.minimums.eviction import farthest, fewest, recently_used
from coherence.minimums.floors import at
from coherence.minimums.registry import entry
from tests.draws import few


def page_walk(height: int, odds: float) -> float:
    """Returns mean tosses until a walk that is held at 0 from below reaches `height`; odds of a step up."""
    p = odds / (1 + odds)
    a, b = [1.0], [1 / p]  # u[0] = 1 + p u[1] + (1 - p) u[0]
    for _ in range(1, height):
        scale = 1 - (1 - p) * a[-1]
        a, b = [*a, p / scale], [*b, (1 + (1 - p) * b[-1]) / scale]
    mean = 0.0
    for i in range(height - 1, -1, -1):
        mean = a[i] * mean + b[i]
    return mean


def floor(name: str, **inputs: object) -> float:
    return float(at(entry(name).bound, inputs))  # type: ignore[arg-type]


@given(up=st.integers(1, 12), down=st.integers(1, 12), odds=st.floats(1.05, 6.0))
@settings(max_examples=80, deadline=None)
def test_walds_test_on_coins_takes_exactly_the_floor_at_its_own_errors(up: int, down: int, odds: float) -> None:
    """Without overshoot the test meets Wald's identity; its errors are those of the gambler's ruin."""
    false = (1 - odds**-down) / (odds**up - odds**-down)  # says "second" under the first law (odds 1/odds)
    miss = (1 - odds**-up) / (odds**down - odds**-up)
    assume(false + miss <= 1 and max(false, miss) <= 0.5)
    information = (odds - 1) / (odds + 1) * math.log(odds)
    wanted = floor("detection_samples", false_alarm=false, miss=miss, information=information)
    assert wald_walk(up, down, odds) == pytest.approx(wanted, rel=1e-6)


def ratio_test(chance: float, ups: float, downs: float, height: float) -> tuple[float, float]:
    """(mean tosses, chance to end above) of log ratios between -height and height, summed over all histories."""
    alive, mean, above = {(0, 0): 1.0}, 0.0, 0.0
    while alive and sum(alive.values()) > 1e-13:
        after: dict[tuple[int, int], float] = {}
        for (heads, tails), weight in alive.items():
            mean += weight
            for state, share in (((heads + 1, tails), chance), ((heads, tails + 1), 1 - chance)):
                ratio = state[0] * ups + state[1] * downs
                if ratio >= height:
                    above += weight * share
                elif ratio > -height:
                    after[state] = after.get(state, 0.0) + weight * share
        alive = after
    return mean, above


@given(first=st.floats(0.05, 0.4), second=st.floats(0.6, 0.95), height=st.floats(0.5, 3.0))
@settings(max_examples=60, deadline=None)
def test_tests_with_overshoot_take_more_than_the_floor(first: float, second: float, height: float) -> None:
    steps = math.log(second / first), math.log((1 - second) / (1 - first))
    (_, false), (mean, right) = ratio_test(first, *steps, height), ratio_test(second, *steps, height)
    assume(0 < false <= 0.5 and 0.5 <= right < 1)
    wanted = floor("detection_samples", false_alarm=false, miss=1 - right, information=binary_divergence(second, first))
    assert mean >= wanted * (1 - 1e-9)


@given(information=st.floats(1e-3, 5.0))
@settings(max_examples=50, deadline=None)
def test_a_coin_that_carries_as_much(information: float) -> None:
    odds = ratio_of(information)
    p = odds / (1 + odds)
    assert binary_divergence(p, 1 - p) == pytest.approx(information, rel=1e-9)


@given(shift=st.floats(0.3, 2.0), height=st.floats(1.0, 4.0), seed=st.integers(0, 9))
@settings(max_examples=8, deadline=None, derandomize=True)
def test_pages_test_on_normal_readings_is_not_quicker_than_the_floor(shift: float, height: float, seed: int) -> None:
    draws = random.Random(seed)  # noqa: S311  (a seeded run)

    def mean_run(changed: bool, runs: int) -> float:
        total = 0
        for _ in range(runs):
            held, count = 0.0, 0
            while held < height and count < 20_000:
                held = max(0.0, held + shift * (draws.gauss(shift if changed else 0.0, 1.0) - shift / 2))
                count += 1
            total += count
        return total / runs

    quiet, delay = mean_run(False, 150), mean_run(True, 600)
    assert delay >= floor("detection_delay", information=shift**2 / 2, false_alarms=quiet * 0.8)


def test_pages_walk_on_a_lattice_is_its_closed_form() -> None:
    """Up p, down q, held at 0: the mean time to h by the known sum."""
    p, q, h = 0.3, 0.7, 4
    by_hand = sum(sum((q / p) ** k for k in range(n + 1)) / p for n in range(h))
    assert page_walk(h, p / q) == pytest.approx(by_hand)


def test_more_quiet_and_less_information_cost_delay() -> None:
    assert floor("detection_delay", information=0.5, false_alarms=1e6) > floor(
        "detection_delay", information=0.5, false_alarms=1e3
    )
    assert floor("detection_delay", information=5, false_alarms=1) == 0, "a floor is never below none"


@pytest.mark.parametrize(("processes", "rounds", "possible"), [(2, 1, True), (3, 1, False), (3, 2, True)])
def test_agreement_takes_as_many_rounds_as_said(processes: int, rounds: int, possible: bool) -> None:
    assert Agreement(processes, 1, 1, rounds).possible() == possible
    wanted = floor("agreement_rounds", failures=1, delay=1, processes=processes)
    assert (rounds >= wanted) == possible


@given(trips=st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=8), data=st.data())
@settings(max_examples=few(60), deadline=None)
def test_no_majority_answers_sooner_than_the_floor(trips: list[Fraction], data: st.DataObject) -> None:
    needed = (len(trips) + 1) // 2
    chosen = data.draw(st.sampled_from(list(itertools.combinations(trips, needed))))
    assert float(max(chosen)) >= floor("quorum_latency", round_trips=tuple(trips))


@given(
    trace=st.lists(st.integers(0, 4), min_size=1, max_size=9),
    slots=st.integers(1, 3),
)
@settings(max_examples=80, deadline=None)
def test_no_cache_fetches_less_than_the_floor(trace: list[int], slots: int) -> None:
    wanted = floor("cache_fetches", trace=tuple(trace), slots=slots)
    assert fewest(trace, slots) == wanted
    assert fewest(trace, slots, takes_slot=True) == floor("page_faults", trace=tuple(trace), slots=slots) >= wanted
    assert recently_used(trace, slots) >= wanted


@given(trace=st.lists(st.integers(0, 12), min_size=1, max_size=300), slots=st.integers(1, 8), seed=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_no_random_policy_fetches_less_on_a_long_trace(trace: list[int], slots: int, seed: int) -> None:
    draws, kept, fetched = random.Random(seed), set[int](), 0  # noqa: S311  (a seeded run)
    for item in trace:
        if item in kept:
            continue
        fetched += 1
        if draws.random() < 0.8:
            if len(kept) == slots:
                kept.remove(draws.choice(sorted(kept)))
            kept.add(item)
    assert fetched >= farthest(trace, slots)
    assert recently_used(trace, slots) <= (slots + 1) * farthest(trace, slots), "recency, against one that may pass"


def test_a_trace_without_items_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one"):
        floor("cache_fetches", trace=(), slots=2)


@given(period=st.floats(0.5, 20), delay=st.floats(0, 5), takeover=st.floats(0, 9), seed=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_a_detector_that_is_quicker_suspects_somebody_who_runs(
    period: float, delay: float, takeover: float, seed: int
) -> None:
    """Signs of life with random delays: any limit below period + longest delay is passed by a running process."""
    draws = random.Random(seed)  # noqa: S311  (a seeded run)
    limit = (floor("failover_time", period=period, delay=delay, takeover=takeover) - takeover) * 0.999
    gaps = [period + (delay if draws.random() < 0.3 else draws.uniform(0, delay)) for _ in range(60)]
    assume(delay > 0 and any(gap >= period + delay for gap in gaps))
    assert max(gaps) > limit
