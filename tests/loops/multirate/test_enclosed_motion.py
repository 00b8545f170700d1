"""Enclosures of matrix exponentials beside rational ones, closed forms and floats."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from coherence.loops.multirate.enclosed_motion import EnclosedMotion
from coherence.loops.multirate.plant import Motion


def drawn(seed: int) -> np.ndarray:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    n = draw.randint(1, 4)
    return np.array([[Fraction(draw.randint(-20, 20), 10) for _ in range(n)] for _ in range(n)], dtype=object)


@pytest.mark.parametrize("seed", range(8))
def test_floats_lie_next_to_the_balls(seed: int) -> None:
    a, h = drawn(seed), Fraction(3, 7) * (1 + seed % 4)
    for balls, floats in zip(EnclosedMotion(a).over(h), Motion(a.astype(float), exact=False).over(h), strict=True):
        middles = np.array([[float(x.middle) for x in row] for row in balls])
        assert np.allclose(middles, floats, rtol=1e-9, atol=1e-9 * np.abs(floats).max())
        assert all(x.reach < Fraction(1, 10**40) for x in balls.ravel())


def test_chains_of_integrators_lie_inside() -> None:
    a = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=object) * Fraction(7, 3)
    for balls, exact in zip(
        EnclosedMotion(a).over(Fraction(11)), Motion(a, exact=True).over(Fraction(11)), strict=True
    ):
        assert all(ball.holds(number) for ball, number in zip(balls.ravel(), exact.ravel(), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_two_steps_are_one_of_their_length(seed: int) -> None:
    """exp(A (s + t)) = exp(A s) exp(A t): what is computed in two ways has a number in common."""
    motion = EnclosedMotion(drawn(seed))
    s, t = Fraction(1, 3), Fraction(29, 4)
    together, (first, _, _), (second, _, _) = motion.over(s + t)[0], motion.over(s), motion.over(t)
    for one, other in zip(together.ravel(), (first @ second).ravel(), strict=True):
        assert abs(one.middle - other.middle) <= one.reach + other.reach


def test_digits_of_e_lie_inside() -> None:
    e = Fraction(27182818284590452353602874713526624977572470936999595749669676277, 10**64)
    (ball,) = EnclosedMotion(np.array([[Fraction(1)]], dtype=object)).over(Fraction(1))[0].ravel()
    assert abs(ball.middle - e) < Fraction(1, 10**63)
    assert ball.reach < Fraction(1, 10**60)
