"""Whether a few processes can agree in time, by any rule: beside what is published, and beside a rule that is run."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from fractions import Fraction

import pytest

from coherence.base import solver
from coherence.minimums.consensus import Agreement, Groups, one_round, sends, stops
from coherence.minimums.floors import at
from coherence.minimums.registry import entry


@pytest.mark.parametrize(
    ("processes", "failures", "actual", "rounds", "possible"),
    [
        (3, 1, 0, 1, True),  # Keidar and Rajsbaum: a + 2 rounds only where a < f - 1
        (3, 1, 1, 1, False),
        (3, 2, 0, 1, False),
        (3, 2, 0, 2, True),
        (4, 1, 0, 1, True),
    ],
)
def test_uniform_decisions_take_as_long_as_published(
    processes: int, failures: int, actual: int, rounds: int, *, possible: bool
) -> None:
    assert Agreement(processes, failures, actual, rounds, uniform=True).possible() == possible


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "silent", "possible"), [(2, True, False), (2, False, True)])
def test_four_processes_that_stop_as_they_decide_need_a_round_more(
    rounds: int, *, silent: bool, possible: bool
) -> None:
    assert Agreement(4, 2, 1, rounds, silent=silent).possible() == possible


def test_the_least_value_that_is_heard_is_a_rule_for_as_many_rounds() -> None:
    """A plain run of the rule of the textbook, beside the verdict that one exists."""
    for values in itertools.product((0, 1), repeat=3):
        for stopped in stops(3, 1, 2):
            known = {who: {value} for who, value in enumerate(values)}
            for turn in range(2):
                before = {who: set(have) for who, have in known.items()}
                for who, other in itertools.permutations(range(3), 2):
                    if sends(who, other, turn, stopped):
                        known[other] |= before[who]
            assert len({min(known[who]) for who in range(3) if who not in stopped}) == 1
    assert Agreement(3, 1, 1, 2).possible()


def test_one_round_leaves_two_values_where_processes_are_few() -> None:
    assert solver.unsat(one_round(4, 2, 2), timeout_ms=30_000).outcome is solver.Outcome.SAT
    assert solver.unsat(one_round(3, 1, 1), timeout_ms=30_000).unsat


def test_what_is_joined_is_one_group() -> None:
    groups = Groups()
    groups.join([1, 2])
    groups.join([3, 4])
    assert groups.of(1) != groups.of(4)
    groups.join([2, 3])
    assert groups.of(1) == groups.of(4)


def test_news_told_by_lot_takes_as_many_rounds_as_runs_do_and_grows_as_published() -> None:
    """A seeded run, so that it gives the same number each time; log2 n + ln n and a constant (Pittel 1987)."""
    draws, members, runs = random.Random(3), 40, 600  # noqa: S311  (a seeded run)
    taken = []
    for _ in range(runs):
        known, rounds = {0}, 0
        while len(known) < members:
            known |= {(one + draws.randrange(1, members)) % members for one in known}
            rounds += 1
        taken.append(rounds)
    bound = entry("push_gossip_rounds").bound
    assert statistics.fmean(taken) == pytest.approx(float(at(bound, {"n": Fraction(members)})), abs=0.2)
    beyond = [float(at(bound, {"n": Fraction(n)})) - math.log2(n) - math.log(n) for n in (100, 200, 400)]
    assert all(0 < later - sooner < 0.06 for sooner, later in itertools.pairwise(beyond))
