"""What a time limit cuts short is recorded, by every block around, and by no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherence.base import clock, solver
from coherence.base.solver import Outcome, unsat

if TYPE_CHECKING:
    import pytest

HARD = (
    "(set-logic QF_NRA)\n"
    + "".join(f"(declare-const x{n} Real)\n" for n in range(8))
    + "".join(
        f"(assert (= (* x{n} x{n} x{(n + 1) % 8}) (+ 2.0 (* x{(n + 3) % 8} x{(n + 2) % 8}))))\n" for n in range(8)
    )
    + "(check-sat)\n"
)


def test_time_that_is_left_is_no_cut() -> None:
    with clock.recorded_cuts() as cuts:
        assert not clock.is_over(clock.now() + 60)
    assert not cuts.happened


def test_a_limit_that_has_come_is_recorded_inside_and_outside() -> None:
    with clock.recorded_cuts() as outer:
        with clock.recorded_cuts() as inner:
            assert clock.is_over(clock.now() - 1)
        assert inner.happened
        with clock.recorded_cuts() as later:
            pass
    assert outer.happened
    assert not later.happened


def test_a_part_of_the_time_is_less_of_it_and_none_is_recorded() -> None:
    with clock.recorded_cuts() as cuts:
        assert clock.now() + 20 < clock.part_until(clock.now() + 60, 1 / 2) <= clock.now() + 30
    assert not cuts.happened
    with clock.recorded_cuts() as cuts:
        assert clock.is_over(clock.part_until(clock.now() - 1, 1 / 2))
    assert cuts.happened


def test_a_solver_that_runs_out_of_steps_answers_alike_each_time_and_is_no_cut() -> None:
    with clock.recorded_cuts() as cuts:
        answers = {unsat(HARD, timeout_ms=20) for _ in range(3)}
    assert not cuts.happened
    (answer,) = answers
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.reason == f"more than {20 * solver.STEPS_OF_PRODUCTS} steps"


def test_a_solver_that_takes_far_longer_than_its_steps_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "STEPS_OF_PRODUCTS", solver.MOST_STEPS)
    with clock.recorded_cuts() as cuts:
        answer = unsat(HARD, timeout_ms=1)
    assert answer.outcome is Outcome.UNKNOWN
    assert cuts.happened
