"""Regions of a form in which bounds hold nothing."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from coherence.base.solver import unsat
from coherence.loops.multirate.balls import Ball
from coherence.loops.multirate.falling_forms import FallingForm, falling_form
from coherence.loops.multirate.falling_regions import is_inside, region_level

LAP = [[Fraction(3, 5), Fraction(1, 2)], [Fraction(-2, 5), Fraction(1, 2)]]
GUARD = ([Ball.of(Fraction(1, 3)), Ball.of(-2)], Fraction(3))


def form() -> FallingForm:
    found = falling_form([[[Ball.of(x) for x in row] for row in LAP]])
    assert found is not None
    return found


def size(of: FallingForm, x: tuple[float, float]) -> float:
    rows = of.form.astype(float)
    return float(sum(x[i] * rows[i][j] * x[j] for i in range(2) for j in range(2)))


def test_the_guard_holds_at_every_drawn_point_of_the_region_and_is_nearly_met_at_one() -> None:
    shown = form()
    level = region_level(shown, [GUARD])
    assert level is not None
    draw, reached = random.Random(1), 0.0  # noqa: S311  (no secret)
    for _ in range(2_000):
        angle = draw.uniform(0, math.tau)
        x = (math.cos(angle), math.sin(angle))
        scale = math.sqrt(float(level) / size(shown, x))
        reached = max(reached, abs(x[0] / 3 - 2 * x[1]) * scale)
    assert 0.99 * 3 < reached <= 3
    assert unsat(shown.claims.script(), timeout_ms=5_000).unsat


def test_a_guard_that_the_point_itself_meets_leaves_no_region() -> None:
    assert region_level(form(), [(GUARD[0], Fraction(0))]) is None
    assert region_level(form(), []) is None


def test_balls_lie_inside_as_their_farthest_numbers_do() -> None:
    shown = form()
    level = region_level(shown, [GUARD])
    assert level is not None
    scale = math.sqrt(float(level) / size(shown, (1.0, 1.0)))
    near = [Ball.of(Fraction(0.99 * scale))] * 2
    assert is_inside(shown, near, level)
    assert unsat(shown.claims.script(), timeout_ms=5_000).unsat
    assert not is_inside(shown, [Ball.of(Fraction(1.01 * scale))] * 2, level)
    assert not is_inside(shown, [near[0].widened(Fraction(1)), near[1]], level)
