"""Placers that choose at random: states that last whatever is drawn, and scripts that say that none does."""

from __future__ import annotations

import pytest

from coherence.base.solver import Outcome, unsat
from coherence.verify.jobs.placing import Counts
from coherence.verify.jobs.random_ties import nearer_by_chance, nearness


def at(number: int) -> Counts:
    return ((number,),)


def draws(edges: dict[int, list[list[int]]]) -> dict[Counts, tuple[tuple[Counts, ...], ...]]:
    return {at(k): tuple(tuple(map(at, answers)) for answers in evictions) for k, evictions in edges.items()}


@pytest.mark.parametrize(
    ("edges", "near"),
    [
        ({0: [], 1: [[0, 1]], 2: [[1, 2], [0, 2]]}, {0: 0, 1: 1, 2: 2}),  # each eviction has an answer that is nearer
        ({0: [], 1: [[0, 1], [1, 2]], 2: [[1]]}, {0: 0}),  # the other member may be evicted for ever
        ({1: [[2]], 2: [[1]]}, {}),
    ],
)
def test_a_state_lasts_where_some_eviction_leads_to_states_that_last_alone(
    edges: dict[int, list[list[int]]], near: dict[int, int]
) -> None:
    assert nearness(draws(edges)) == {at(k): far for k, far in near.items()}


def test_the_script_of_a_rank_that_falls_by_chance_is_refused_where_it_does_not() -> None:
    good = nearer_by_chance(draws({0: [], 1: [[0, 1]]}))
    assert unsat(good, timeout_ms=5000).outcome is Outcome.UNSAT
    bad = good.replace("() Int 1)", "() Int 0)")
    assert unsat(bad, timeout_ms=5000).outcome is Outcome.SAT
