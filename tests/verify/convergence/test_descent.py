"""Runs that settle or end: proved with a bound in steps, refused where they do not, certificates checked by z3."""

from __future__ import annotations

import pytest

from coherence.base.clock import now
from coherence.verify.convergence.descent import reaches, settles
from coherence.verify.convergence.set_chains import Descent
from coherence.verify.convergence.settling import in_basin
from tests.verify.affine_rows import is_unsat, one_state, row

ABOVE = (row((1,), ">", 1),)


def test_a_halved_number_settles_below_one_and_not_before_it_can() -> None:
    descent = settles(one_state("1/2", 0, (0, 100), ABOVE), broken="broken", deadline=now() + 10)
    assert isinstance(descent, Descent)
    assert descent.levels >= 7  # 100 / 2^7 < 1
    assert is_unsat(descent.certificate)


@pytest.mark.parametrize(("factor", "constant"), [(1, 0), ("1/2", 1), (-1, 0)])
def test_what_rests_or_turns_outside_does_not_settle(factor: int | str, constant: int) -> None:
    reason = settles(one_state(factor, constant, (0, 100), ABOVE), broken="broken", deadline=now() + 3)
    assert isinstance(reason, str)


@pytest.mark.slow
def test_a_count_down_ends_and_a_count_up_does_not() -> None:
    guard = (row((1,), ">=", 1),)
    ends = reaches(one_state(1, -1, (0, 5), (), guard), deadline=now() + 10)
    assert isinstance(ends, Descent)
    assert ends.levels >= 5
    assert is_unsat(ends.certificate)
    assert isinstance(reaches(one_state(1, 1, (0, 5), (), guard), deadline=now() + 3), str)


def test_a_slow_rest_is_reached_through_the_basin_of_a_quadratic_function() -> None:
    plain = one_state("99/100", 0, (0, 100), ())
    goal = one_state("99/100", 0, (0, 100), ABOVE)
    descent = in_basin(plain, goal, "broken", now() + 10)
    assert isinstance(descent, Descent)
    assert descent.quadratic
    assert descent.levels >= 459  # 100 * 0.99^458 > 1
    assert is_unsat(descent.certificate)


def test_no_time_is_no_proof() -> None:
    assert isinstance(settles(one_state("1/2", 0, (0, 100), ABOVE), broken="broken", deadline=now() - 1), str)
