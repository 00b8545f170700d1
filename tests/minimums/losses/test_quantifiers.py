"""Of which runs a joined floor speaks: tried on all small tables of runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

import pytest

from coherence.base.errors import UsageError
from coherence.minimums.bound import Quantifier
from coherence.minimums.losses.quantifiers import added, measure, multiplied, taken_together
from coherence.minimums.registry import entry

EACH, MEAN, WORST, TRACE = Quantifier
TABLES = [
    tuple(zip(a, b, strict=True))
    for a in itertools.product((1, 2, 5), repeat=2)
    for b in itertools.product((1, 3, 4), repeat=2)
]  # fmt: skip  (two runs of two parts)
JOINS: dict[str, tuple[Callable[[Iterable[Quantifier]], Quantifier], Callable[[float, float], float]]] = {
    "added": (added, lambda a, b: a + b),
    "multiplied": (multiplied, lambda a, b: a * b),
    "taken_together": (taken_together, max),
}


def value(of: Quantifier, runs: Sequence[float]) -> float:
    return {EACH: min(runs), WORST: max(runs), MEAN: sum(runs) / len(runs)}[of]


@pytest.mark.parametrize("name", JOINS)
@pytest.mark.parametrize("pair", tuple(itertools.product((EACH, MEAN, WORST), repeat=2)))
def test_what_is_allowed_holds_in_every_table_and_what_is_refused_fails_in_one(
    name: str, pair: tuple[Quantifier, Quantifier]
) -> None:
    join, of_two = JOINS[name]

    def beaten(of: Quantifier) -> bool:
        return any(
            value(of, [of_two(a, b) for a, b in runs])
            < of_two(value(pair[0], [a for a, _ in runs]), value(pair[1], [b for _, b in runs]))
            for runs in TABLES
        )

    try:
        of = join(pair)
    except UsageError:
        assert beaten(EACH)
        assert beaten(MEAN) or beaten(WORST)
    else:
        assert not beaten(of)


def test_a_trace_joins_with_what_holds_of_each_run_only() -> None:
    assert added((TRACE, EACH)) is TRACE
    for join in (added, multiplied, taken_together):
        with pytest.raises(UsageError, match="trace"):
            join((TRACE, WORST))


def test_shares_of_unlike_wholes_are_unlike() -> None:
    names = ("checkpoint_overhead", "restart_share", "pipeline_bubble_share", "erlang_loss", "all_gather")
    assert [measure(entry(name).bound) for name in names] == [
        "share of time", "share of time", "share of device time", "share of arrivals", "s",
    ]  # fmt: skip
