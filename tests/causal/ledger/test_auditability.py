"""What signals identify: the worked example, exact rank, intervals that hold the truth, contradictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from coherence.base.errors import UsageError
from coherence.causal.ledger.auditability import Audit, AuditSignal, audit, decisions, sums_of
from coherence.causal.ledger.report import audit_to_dict

TRUE = {"inference": 0.30, "batch": 0.292, "zombie": 0.034, "switch": 0.05, "gang": 0.084, "stranded": 0.1,
        "slack": 0.14}  # fmt: skip
PARTS = tuple(TRUE)
HELD = PARTS[:5]


def signal(name: str, *sums: tuple[str, ...]) -> AuditSignal:
    """A signal with the values it has for TRUE."""
    return AuditSignal(
        name, tuple(dict.fromkeys(s, 1.0) for s in sums), tuple(round(sum(TRUE[p] for p in s), 9) for s in sums)
    )


PROVISIONED, HELD_TIME = signal("provisioned", PARTS), signal("held", HELD)
USEFUL = signal("useful per class", ("inference",), ("batch",))
ATTEMPTS = signal("attempts x need", ("inference", "zombie"))
CHANGES = signal("class changes", ("switch",))
JOIN = signal("queue and idle joined", ("stranded",))


def interval(given: Audit, part: str) -> tuple[float, float]:
    return round(given[part].low, 9), round(given[part].high, 9)


def test_the_worked_example_of_the_definitions() -> None:
    """zombie in [0, .76]; then zombie, switch, gang in [0, .168]; then zombie .034 and the others in [0, .134]; ..."""
    two = audit(PARTS, [PROVISIONED, HELD_TIME], [USEFUL, ATTEMPTS, CHANGES, JOIN])
    assert interval(two, "zombie") == (0, 0.76)
    assert set(two.further) == {"useful per class", "attempts x need", "class changes", "queue and idle joined"}
    assert two.never == ()

    useful = audit(PARTS, [PROVISIONED, HELD_TIME, USEFUL])
    assert {interval(useful, part) for part in ("zombie", "switch", "gang")} == {(0, 0.168)}

    attempts = audit(PARTS, [PROVISIONED, HELD_TIME, USEFUL, ATTEMPTS])
    assert attempts["zombie"].identified
    assert interval(attempts, "zombie") == (0.034, 0.034)
    assert {interval(attempts, part) for part in ("switch", "gang")} == {(0, 0.134)}

    changes = audit(PARTS, [PROVISIONED, HELD_TIME, USEFUL, ATTEMPTS, CHANGES])
    assert all(changes[part].identified for part in HELD)
    assert interval(changes, "stranded") == (0, 0.24)
    assert not changes["stranded"].identified

    everything = audit(PARTS, [PROVISIONED, HELD_TIME, USEFUL, ATTEMPTS, CHANGES, JOIN])
    assert all(part.identified for part in everything.parts)
    assert everything.gap == pytest.approx(0, abs=1e-12)
    assert {part.name: part.low for part in everything.parts} == pytest.approx(TRUE)


def test_a_part_pinned_by_its_values_is_not_identified_by_its_signals() -> None:
    """Nothing was held, so nothing was zombie; another day would not tell."""
    found = audit(("a", "b"), [AuditSignal("sum", ({"a": 1, "b": 1},), (0.0,))])
    assert (found["a"].low, found["a"].high) == (0, 0)
    assert not found["a"].identified


def test_a_part_without_a_bound_reaches_to_infinity() -> None:
    found = audit(("a", "b"), [AuditSignal("a", ({"a": 1},), (1.0,))])
    assert (found["b"].low, found["b"].high) == (0, np.inf)
    assert audit_to_dict(found)["parts"]["b"]["interval"] == [0, None]


def test_intervals_hold_the_truth_and_cannot_be_narrower() -> None:
    """Random ledgers and sums: the true part is inside, and identified parts are the true ones."""
    random = np.random.default_rng(2)
    for _ in range(25):
        count = int(random.integers(2, 7))
        names = tuple(f"x{i}" for i in range(count))
        truth = random.integers(0, 16, count) / 16
        rows = random.integers(0, 2, (int(random.integers(1, count + 1)), count)).astype(float)
        given = [
            AuditSignal(f"s{i}", (dict(zip(names, row, strict=True)),), (float(row @ truth),))
            for i, row in enumerate(rows)
        ]
        found = audit(names, given)
        assert not found.contradiction
        rank = np.linalg.matrix_rank(rows)
        for j, part in enumerate(found.parts):
            assert part.low <= truth[j] <= part.high
            alone = np.linalg.matrix_rank(np.vstack([rows, np.eye(count)[j]])) == rank
            assert part.identified == alone
            if part.identified:
                assert part.low == part.high == truth[j]


def test_intervals_are_those_of_another_solver_part_by_part() -> None:
    """Of sums drawn so that several parts are in the same ones, and of values in which floats differ by rounding."""
    random = np.random.default_rng(5)
    for _ in range(25):
        kinds = random.integers(0, 2, (int(random.integers(1, 4)), 3)).astype(float)
        rows = kinds[:, random.integers(0, 3, int(random.integers(2, 7)))]
        names = tuple(f"x{i}" for i in range(rows.shape[1]))
        values = rows @ random.random(rows.shape[1])
        given = [
            AuditSignal(f"s{i}", (dict(zip(names, row, strict=True)),), (float(value),))
            for i, (row, value) in enumerate(zip(rows, values, strict=True))
        ]
        for part, gain in zip(audit(names, given).parts, np.eye(len(names)), strict=True):
            low, high = (linprog(way * gain, A_eq=rows, b_eq=values, bounds=(0, None)) for way in (1, -1))
            assert part.low == pytest.approx(low.fun, abs=1e-8)
            assert part.high == pytest.approx(np.inf if high.status == 3 else -high.fun, abs=1e-8)


def test_the_cheapest_further_signals() -> None:
    parts = ("a", "b", "c")
    given = [AuditSignal("sum", ({"a": 1, "b": 1, "c": 1},), (1.0,))]
    further = [AuditSignal("a", ({"a": 1},), cost=5), AuditSignal("b", ({"b": 1},)), AuditSignal("c", ({"c": 1},)),
               AuditSignal("a and b", ({"a": 1, "b": 1},), cost=0.5)]  # fmt: skip
    assert set(audit(parts, given, further).further) == {"b", "a and b"}
    several = [AuditSignal("all", ({"a": 1}, {"b": 1}), cost=1.5), *further[1:]]
    assert audit(parts, given, several).further in {("all",), ("b", "a and b")}
    assert audit(parts, given, further[:1]).never == ("b", "c")


def test_the_smallest_set_is_smallest() -> None:
    """Against every subset, with signals of one and of two sums."""
    from itertools import combinations

    random = np.random.default_rng(9)
    for _ in range(15):
        names = tuple(f"x{i}" for i in range(5))
        further = [
            AuditSignal(
                f"s{i}", tuple(dict(zip(names, map(float, row), strict=True)) for row in random.integers(0, 2, (n, 5)))
            )
            for i, n in enumerate(random.integers(1, 3, 6))
        ]
        found = audit(names, [], further)
        reach = _rank(names, further)
        sizes = [k for k in range(7) for some in combinations(further, k) if _rank(names, some) == reach]
        assert len(found.further) == min(sizes)
        assert set(found.order) == set(found.further)


def _rank(names: tuple[str, ...], some: object) -> int:
    rows = [[row[name] for name in names] for one in some for row in one.rows]  # type: ignore[attr-defined]
    return int(np.linalg.matrix_rank(np.array(rows))) if rows else 0


def test_sums_that_no_ledger_has_name_their_signals() -> None:
    found = audit(PARTS, [PROVISIONED, HELD_TIME, AuditSignal("useful", ({"inference": 1.0},), (0.9,)), CHANGES])
    assert found.contradiction == ("held", "useful")
    assert np.isnan(found["zombie"].low)
    rounded = audit(("a", "b"), [AuditSignal("a", ({"a": 1},), (0.1,)), AuditSignal("b", ({"b": 1},), (0.2,)),
                                 AuditSignal("sum", ({"a": 1, "b": 1},), (0.3,))])  # fmt: skip
    assert not rounded.contradiction, "0.1 + 0.2 and 0.3 differ by rounding alone"
    assert rounded["a"].high == pytest.approx(0.1, abs=1e-9)


def test_the_signals_of_a_ledger() -> None:
    sums = sums_of(("chat", "train"))
    parts = tuple(sums["count"])
    given = [AuditSignal("count", (sums["count"],), (8.0,)), AuditSignal("held", (sums["held"],), (6.0,)),
             AuditSignal("useful", (sums["useful"],), (4.0,))]  # fmt: skip
    found = audit(parts, given, [AuditSignal(name, (sums[name],)) for name in parts])
    assert (found["barrier"].low, found["barrier"].high) == (0, 2)
    assert (found["idle_stranded"].low, found["idle_stranded"].high) == (0, 2)
    assert len(found.further) == len(parts) - 3


def test_bad_signals() -> None:
    with pytest.raises(UsageError, match="did you mean 'zombie'"):
        audit(PARTS, [AuditSignal("s", ({"zombi": 1},), (1.0,))])
    with pytest.raises(UsageError, match="has 1 sums and the values"):
        audit(PARTS, [AuditSignal("s", ({"zombie": 1},))])
    with pytest.raises(UsageError, match="finite"):
        audit(PARTS, [], [AuditSignal("s", ({"zombie": np.nan},))])


def test_decisions_that_can_be_told_again() -> None:
    whole = {"loop": "autoscaler", "reading": 0.9, "read_at": 10, "action": "+4", "target": "pool", "cause": "7"}
    found = decisions([{**whole, "change": 4}, {**whole, "change": -12, "cause": ""}, {"change": 0, "loop": "x"}])
    assert (found.actions, found.reconstructible, found.gap) == (3, 1, 0.75)
    assert found.missing["cause"] == 2
    assert "loop" not in found.missing
