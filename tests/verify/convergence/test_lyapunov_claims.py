"""Claims about V = y' P y: each script is unsat where the claim holds, and no script is written where it does not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.verify.convergence.lyapunov_claims import (
    bounded_claim,
    box_claim,
    closed_claims,
    goal_claims,
    rounds_claim,
    shrink_claims,
)
from coherence.verify.convergence.mode_cycles import ModeCycle, mode_cycles
from coherence.verify.systems.piecewise_affine import AffineEdge, TransitionSystem
from tests.verify.affine_rows import between, is_unsat, linear, one_state, row

F = Fraction
ONE = [[F(1)]]  # P
FAR = row((1,), ">", 10)
SYSTEM = one_state("1/2", 1, (0, 8), (FAR,))  # rests at 2


def cycle(system: TransitionSystem = SYSTEM) -> ModeCycle:
    cycles = mode_cycles(system.edges[:1], {"m": ()}, 1)
    assert isinstance(cycles, list)
    return cycles[0]


@pytest.mark.parametrize(("reach", "holds"), [(6, True), (F(59, 10), False)])
def test_the_reach_of_a_set_is_its_farthest_end(reach: Fraction, holds: bool) -> None:
    assert is_unsat(bounded_claim(between(1, 0, 0, 8), SYSTEM, [F(2)], [F(reach)])) is holds


@pytest.mark.parametrize("rho", [F(1, 2), F(1, 4)])
def test_v_is_positive_and_shrinks_by_rho(rho: Fraction) -> None:
    assert [is_unsat(script) for script in shrink_claims(cycle(), ONE, rho, ["y0"])] == [True, True]


def test_a_factor_below_the_square_of_the_pole_is_no_claim() -> None:
    with pytest.raises(AssertionError):
        shrink_claims(cycle(), ONE, F(1, 4) - F(1, 10**6), ["y0"])


def test_v_in_a_box_counts_every_pair_of_variables_with_its_size() -> None:
    matrix, reach = [[F(2), F(-1)], [F(-1), F(3)]], [F(1), F(2)]
    assert is_unsat(box_claim(matrix, reach, F(2 + 2 * 2 + 3 * 4)))
    assert not is_unsat(box_claim(matrix, reach, F(2 + 2 * 2 + 3 * 4) - F(1, 100)))


@pytest.mark.parametrize(("most", "closed"), [(F(63), True), (F(64), True), (F(65), False)])
def test_another_edge_is_closed_while_v_is_below_the_square_of_its_distance(most: Fraction, closed: bool) -> None:
    leave = AffineEdge("m", "m", (FAR,), (linear((1,), 1),), "leave")  # x > 10 is 8 away from the rest at 2
    system = TransitionSystem(("x",), (), SYSTEM.initial, (*SYSTEM.edges, leave), SYSTEM.bad)
    claims = closed_claims(cycle(system), system, ONE, most, ["y0"])
    if closed:
        assert [is_unsat(script) for script in claims] == [True]
    else:
        assert claims == "leave from m may be taken from where it starts"


def test_a_bound_that_may_be_met_needs_room() -> None:
    leave = AffineEdge("m", "m", (row((1,), ">=", 10),), (linear((1,), 1),), "leave")
    system = TransitionSystem(("x",), (), SYSTEM.initial, (*SYSTEM.edges, leave), SYSTEM.bad)
    assert isinstance(closed_claims(cycle(system), system, ONE, F(64), ["y0"]), str)
    assert isinstance(closed_claims(cycle(system), system, ONE, F(63), ["y0"]), list)


def test_the_level_of_a_goal_is_just_below_the_nearest_bad_set() -> None:
    goals = goal_claims(cycle(), SYSTEM, "broken", ONE, ["y0"])
    assert not isinstance(goals, str)
    least, scripts = goals
    assert F(63) < least < F(64)
    assert [is_unsat(script) for script in scripts] == [True]


def test_a_bad_rest_is_no_goal() -> None:
    at_rest = one_state("1/2", 1, (0, 8), (row((1,), ">=", 2),))
    assert goal_claims(cycle(at_rest), at_rest, "broken", ONE, ["y0"]) == (
        "at rest m is not where it must be, or only just"
    )


def test_a_run_ends_where_a_guard_of_the_cycle_is_closed_at_the_rest() -> None:
    goal = one_state("1/2", 1, (0, 8), (), guard=(row((1,), ">=", 5),))
    ended = goal_claims(cycle(), goal, "", ONE, ["y0"])
    assert not isinstance(ended, str)
    assert F(8) < ended[0] < F(9)
    goes_on = one_state("1/2", 1, (0, 8), (), guard=(row((1,), ">=", 1),))
    assert goal_claims(cycle(), goes_on, "", ONE, ["y0"]) == "at rest a run goes on"


@given(st.fractions(F(1, 100), F(99, 100), max_denominator=200), st.integers(1, 10**6), st.integers(1, 10**6))
@settings(max_examples=30, deadline=None)
def test_after_so_many_rounds_v_is_inside(rho: Fraction, most: int, least: int) -> None:
    rounds = rounds_claim(rho, F(most), F(least))
    assert rounds is not None
    count, script = rounds
    assert rho**count * most <= least
    assert count <= 4 or rho ** (count * 9 // 10 - 4) * most > least  # not many more than needed
    assert is_unsat(script)


def test_too_many_rounds_are_no_proof() -> None:
    assert rounds_claim(1 - F(1, 10**9), F(100), F(1)) is None
