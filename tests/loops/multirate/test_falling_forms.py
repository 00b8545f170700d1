"""Quadratic forms that fall: found where laps contract, never where one does not, and confirmed by solvers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from coherence.base.solver import recheck, unsat
from coherence.loops.multirate.balls import Ball
from coherence.loops.multirate.falling_forms import falling_form, multiplied, rounded

ROTATION = [[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]]


def lap(rows: list[list[Fraction]], radius: Fraction = Fraction(0)) -> list[list[Ball]]:
    return [[Ball.of(x).widened(radius) for x in row] for row in rows]


def scaled(rows: list[list[Fraction]], by: Fraction) -> list[list[Fraction]]:
    return [[by * x for x in row] for row in rows]


def drawn(seed: int) -> tuple[list[list[Fraction]], float]:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    n = draw.randint(1, 6)
    rows = [[Fraction(draw.randint(-9, 9), 10) for _ in range(n)] for _ in range(n)]
    return rows, float(np.abs(np.linalg.eigvals(np.array(rows, dtype=float))).max())


@pytest.mark.parametrize("seed", range(40))
def test_a_form_is_shown_where_the_roots_lie_inside_and_nowhere_else(seed: int) -> None:
    rows, radius = drawn(seed)
    form = falling_form([lap(rows)])
    assert (form is not None) is (radius < 1)
    if form is not None and seed < 10:
        assert unsat(form.claims.script(), timeout_ms=5_000).unsat


@pytest.mark.parametrize("size", [1, 2])
def test_a_second_solver_confirms_forms_of_one_number_and_of_two(size: int) -> None:
    pytest.importorskip("cvc5")
    form = falling_form([lap([[Fraction(int(i == j), 2) for j in range(size)] for i in range(size)])])
    assert form is not None
    assert recheck(form.claims.script(), timeout_ms=20_000).unsat


def test_what_only_turns_has_none_however_near() -> None:
    assert falling_form([lap(ROTATION)]) is None
    assert falling_form([lap(scaled(ROTATION, 1 - Fraction(1, 10**6)))]) is not None
    assert falling_form([lap(scaled(ROTATION, 1 + Fraction(1, 10**6)))]) is None


def test_a_radius_that_reaches_the_edge_leaves_none() -> None:
    near = scaled(ROTATION, Fraction(9, 10))
    assert falling_form([lap(near, Fraction(1, 1000))]) is not None
    assert falling_form([lap(near, Fraction(1, 10))]) is None


def test_two_laps_that_contract_alone_and_not_one_after_the_other_have_none() -> None:
    up, down = [[Fraction(0), Fraction(3)], [Fraction(0), Fraction(0)]], [[Fraction(0)] * 2, [Fraction(3), Fraction(0)]]
    assert all(falling_form([lap(rows)]) is not None for rows in (up, down))
    assert falling_form([lap(up), lap(down)]) is None


def test_a_claim_about_another_number_is_refuted_by_the_solver() -> None:
    form = falling_form([lap(scaled(ROTATION, Fraction(1, 2)))])
    assert form is not None
    form.claims.definitions["m0_0_0"] += Fraction(1, 2**30)
    assert not unsat(form.claims.script(), timeout_ms=5_000).unsat


def test_products_are_those_of_rationals() -> None:
    left, right = rounded(np.array([[0.1, -2.5], [1e-9, 3.0]]), 40), rounded(np.array([[7.0, 0.3], [0.0, 1e6]]), 20)
    assert (multiplied(left, right) == left @ right).all()
