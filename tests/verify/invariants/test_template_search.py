"""From directions to a certified invariant: what templates hold, which bounds edges keep, which rows a proof needs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.base.clock import now
from coherence.verify.invariants.directions import Direction, template
from coherence.verify.invariants.fixpoint import APART, Abstraction, emptiness, post_fixpoint
from coherence.verify.invariants.invariant_margins import InvariantGuess, needed, room
from coherence.verify.invariants.numeric import TIGHTEN, CoordinateFrame, lower
from coherence.verify.invariants.proof import InvariantProof, Unproved
from coherence.verify.invariants.random_runs import bad_run, frame_of, sample
from coherence.verify.invariants.rounding import rational
from coherence.verify.invariants.search import search
from coherence.verify.invariants.smtlib import certificate
from coherence.verify.invariants.split import cut, uncut
from coherence.verify.systems.piecewise_affine import AffineEdge, TransitionSystem
from tests.verify.affine_rows import Number, between, is_unsat, linear, one_state, row

BAD = (row((1,), ">=", 10),)
SLOW = one_state("1/2", 1, (0, 1), BAD)  # rests at 2
IDENTITY = CoordinateFrame(np.zeros(1), np.ones(1))


def directions(system: TransitionSystem, effort: int) -> set[Direction]:
    width = len(system.variables) + len(system.choices)
    numeric = lower(system, CoordinateFrame(np.zeros(width), np.ones(width)), tighten=TIGHTEN)
    return set(template(system, numeric, np.zeros((0, len(system.variables))), effort=effort))


def direction(*entries: Number) -> Direction:
    return tuple(Fraction(entry) for entry in entries)


def pair(bad: tuple[int, int], update: tuple[tuple[int, int], tuple[int, int]]) -> TransitionSystem:
    edge = AffineEdge("m", "m", (row((1, 2), "<=", 3),), tuple(linear(line) for line in update), "step")
    start = (*between(2, 0, 0, 1), *between(2, 1, 0, 1))
    return TransitionSystem(("x", "y"), (), (("m", start),), (edge,), (("m", (row(bad, ">=", 9),)),))


def test_every_template_has_the_box_and_the_rows_of_the_promise_both_ways() -> None:
    rows: list[tuple[Number, Number]] = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, "1/2"), (-1, "-1/2")]
    assert directions(pair((2, 1), ((1, 0), (0, 1))), 0) == {direction(*entries) for entries in rows}


def test_with_more_effort_come_guards_eigenvectors_and_the_octagon() -> None:
    system = pair((2, 1), ((0, 1), (1, 0)))  # swaps: left eigenvectors (1, 1) and (1, -1)
    assert direction("1/2", 1) in directions(system, 1)
    assert {direction(1, 1), direction(1, -1)} <= directions(system, 1)
    apart = pair((2, 1), ((3, 0), (0, 5)))  # no eigenvector mixes x and y; their row does
    assert direction(1, -1) not in directions(apart, 1)
    assert direction(1, -1) in directions(apart, 2)


@pytest.mark.parametrize(("rows", "margin"), [([-1.0, -1.0], 1.0), ([1.0, 1.0], -1.0), ([2.0, -2.0], 0.0)])
def test_emptiness_is_by_how_much_two_rows_miss_each_other(rows: list[float], margin: float) -> None:
    both = np.array([[[1.0], [-1.0]]])  # x <= rows[0], -x <= rows[1]
    assert emptiness(both, np.array([rows])).margin[0] == pytest.approx(margin)


def guess(system: TransitionSystem = SLOW) -> InvariantGuess:
    abstraction = Abstraction(lower(system, IDENTITY, tighten=TIGHTEN), np.array([[1.0], [-1.0]]), apart=APART,
                              deadline=now() + 10)  # fmt: skip
    fixpoint = post_fixpoint(abstraction, np.full((1, 2), -np.inf), 0.02)
    assert fixpoint is not None
    bounds, image = fixpoint
    return InvariantGuess(abstraction, ((Fraction(1),), (Fraction(-1),)), bounds, image, abstraction.unsafe(bounds))


def test_the_least_bounds_that_the_edge_keeps_are_the_rest_and_the_start() -> None:
    assert guess().bounds.support[0] == pytest.approx([2.0, 0.0], abs=1e-6)
    assert guess().bounds.reached.tolist() == [True]


def test_the_distance_from_a_bad_set_is_that_of_the_bounds() -> None:
    assert guess().unsafe.margin[0] == pytest.approx((10 - 2) / 2, abs=1e-5)  # each row gives way by half of it


def test_only_rows_that_the_proof_rests_on_are_needed() -> None:
    assert needed(guess()).tolist() == [[True, False]]
    below = one_state("1/2", 1, (0, 1), (row((1,), "<=", -1),))
    assert needed(guess(below)).tolist() == [[False, True]]


def test_any_bound_within_its_room_is_kept_and_safe() -> None:
    intervals = room(guess(), needed(guess()))
    assert intervals is not None
    low, high = intervals
    assert 2 - 1e-6 <= low[0, 0] < high[0, 0] < 10
    for bound in (low[0, 0] + 1e-6, high[0, 0]):
        assert bound / 2 + 1 <= bound + 1e-6


def ring(modes: int) -> TransitionSystem:
    """Returns a cycle of modes that halves x and adds 1, and hands y round as it is; both have a bound in mode 2."""
    halved = (linear(("1/2", 0), 1), linear((0, 1)))
    edges = tuple(AffineEdge(f"m{k}", f"m{(k + 1) % modes}", (), halved, f"e{k}") for k in range(modes))
    start = (*between(2, 0, 0, 1), *between(2, 1, 0, 3))
    bad = (("m2", (row((1, 0), ">=", 10),)), ("m2", (row((0, 1), ">=", 7),)))
    return TransitionSystem(("x", "y"), (), (("m0", start),), edges, bad)


@pytest.mark.parametrize("modes", [3, 5, 9])
def test_a_value_that_is_handed_round_unchanged_has_one_bound_with_room_in_every_mode(modes: int) -> None:
    numeric = lower(ring(modes), CoordinateFrame(np.zeros(2), np.ones(2)), tighten=TIGHTEN)
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    abstraction = Abstraction(numeric, rows, apart=APART, deadline=now() + 20)
    fixpoint = post_fixpoint(abstraction, np.full((modes, 3), -np.inf), 0.02)
    assert fixpoint is not None
    bounds, image = fixpoint
    template_of = (direction(1, 0), direction(0, 1), direction(0, -1))
    around = InvariantGuess(abstraction, template_of, bounds, image, abstraction.unsafe(bounds))
    need = needed(around)
    assert need.tolist() == [[True, True, False]] * modes
    intervals = room(around, need)
    assert intervals is not None
    low, high = intervals
    assert low[:, 1] == pytest.approx(np.full(modes, low[0, 1]))
    assert high[:, 1] == pytest.approx(np.full(modes, high[0, 1]))
    assert 3 - 1e-6 <= low[0, 1] < high[0, 1] - 0.05 < 7
    following = np.roll(low[:, 0], -1)  # the least bound after a step holds what the largest before it leads to
    assert (high[:, 0] / 2 + 1 <= following + 1e-6).all()
    assert (low[:, 0] < high[:, 0] - 0.05).all()


def test_a_value_that_is_handed_on_one_way_only_has_a_bound_of_its_own_in_each_mode() -> None:
    """In m0 it stays below 5, in m1, where it may begin at 6, below 9: one bound for both there is none."""
    start = (("m0", between(1, 0, 0, 3)), ("m1", between(1, 0, 0, 6)))
    bad = (("m0", (row((1,), ">=", 5),)), ("m1", (row((1,), ">=", 9),)))
    edge = AffineEdge("m0", "m1", (), (linear((1,)),), "on")
    abstraction = Abstraction(lower(TransitionSystem(("x",), (), start, (edge,), bad), IDENTITY, tighten=TIGHTEN),
                              np.array([[1.0]]), apart=APART, deadline=now() + 20)  # fmt: skip
    fixpoint = post_fixpoint(abstraction, np.full((2, 1), -np.inf), 0.02)
    assert fixpoint is not None
    bounds, image = fixpoint
    handed = InvariantGuess(abstraction, (direction(1),), bounds, image, abstraction.unsafe(bounds))
    intervals = room(handed, needed(handed))
    assert intervals is not None
    low, high = intervals
    assert 3 - 1e-6 <= low[0, 0] < high[0, 0] < 5
    assert 6 - 1e-6 <= low[1, 0] < high[1, 0] < 9


@pytest.mark.parametrize("style", ["roomy", "tight", "strict"])
def test_a_guess_is_rounded_to_an_invariant_that_z3_confirms(style: str) -> None:
    invariant = rational(guess(), style)  # type: ignore[arg-type]
    assert invariant is not None
    assert [row.linear.coefficients for row in invariant["m"][0]] == [direction(1)]
    assert is_unsat(certificate(SLOW, invariant))


def test_random_runs_stay_where_exact_runs_can_be() -> None:
    guard = (row((1,), "<", 3),)
    runs = sample(one_state(1, 1, (0, 0), BAD, guard), samples=20, steps=10)
    visited = runs.point * runs.numeric.frame.scale[0] + runs.numeric.frame.centre[0]
    assert set(visited.round(6).ravel().tolist()) == {0.0, 1.0, 2.0, 3.0}
    frame = frame_of(runs)
    assert (frame.centre[0], frame.scale[0]) == pytest.approx((1.5, 1.5))


@pytest.mark.parametrize(("limit", "path"), [("3/2", (0, 0)), ("5/2", (0, 0, 0)), (4, None)])
def test_the_shortest_run_into_a_bad_set_is_found(limit: str | int, path: tuple[int, ...] | None) -> None:
    system = one_state(1, 1, (0, 0), (row((1,), ">=", limit),), guard=(row((1,), "<", 3),))
    bad = bad_run(sample(system, samples=20, steps=10))
    assert (bad.edges if bad is not None else None) == path


def test_modes_are_cut_by_their_guards_and_an_invariant_is_put_together_again() -> None:
    up = AffineEdge("m", "m", (row((1,), "<", 0),), (linear((1,), 1),), "up")
    down = AffineEdge("m", "m", (row((1,), ">=", 0),), (linear((1,), -1),), "down")
    system = TransitionSystem(("x",), (), (("m", between(1, 0, -1, 1)),), (up, down), (("m", (row((1,), ">", 5),)),))
    division = cut(system, IDENTITY)
    assert division is not None
    assert len(division.cells["m"]) == 3  # x < 0, 0 <= x <= 5, x > 5
    assert {name for name, _ in division.cells["m"]} == set(division.system.modes)
    first = division.cells["m"][0]
    whole = uncut(division, {first[0]: ((row((1,), "<=", 1),),)})
    assert whole == {"m": ((*first[1], row((1,), "<=", 1)),)}


def test_a_system_without_half_spaces_is_not_cut() -> None:
    assert cut(one_state("1/2", 0, (0, 1), ()), IDENTITY) is None


def test_the_search_ends_with_a_proof_a_suspect_run_or_a_reason() -> None:
    proof = search(SLOW, time_limit=10, samples=40, steps=40)
    assert isinstance(proof, InvariantProof)
    assert is_unsat(proof.certificate)
    assert proof.tried[-1].endswith("proved")
    suspect = search(one_state(1, 1, (0, 0), BAD), time_limit=3, samples=40, steps=40)
    assert isinstance(suspect, Unproved)
    assert suspect.suspect == ("step",) * 11
    late = search(SLOW, time_limit=-1, samples=40, steps=40)
    assert isinstance(late, Unproved)
    assert late.reason == "the time is over"
