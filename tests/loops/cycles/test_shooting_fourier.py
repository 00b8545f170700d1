"""Fourier collocation and Floquet multipliers against cycles that are known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.loops.cycles.delayed_runs_smooth import Smooth
from coherence.loops.cycles.relay import Array
from coherence.loops.cycles.shooting_fourier import (
    HarmonicLoop,
    barycentric,
    chebyshev,
    jacobians,
    multipliers,
    polished,
    shifted,
)

ANGLES = 2 * math.pi * np.arange(65) / 65


def stuart_landau(now: Array, past: Array) -> Array:
    """x' = x - 2 y - x r^2, y' = 2 x + y - y r^2: the unit circle with period pi, multiplier exp(-2 pi)."""
    x, y = now
    square = x * x + y * y
    return np.array([x - 2 * y - x * square, 2 * x + y - y * square]) + 0 * past


def turning(now: Array, past: Array) -> Array:
    """x' = -(pi / 2) x(t - 1) (1 - x^2 - x(t - 1)^2 + 1): cos(pi t / 2) is a cycle, since x^2 + x(t - 1)^2 = 1."""
    return -(math.pi / 2) * past * (2 - now**2 - past**2)


def test_a_cycle_is_polished_from_a_rough_guess() -> None:
    loop = polished(Smooth(stuart_landau, 2), 1.1 * np.array([np.cos(ANGLES), np.sin(ANGLES)]), 3.3)
    assert loop is not None
    assert loop.period == pytest.approx(math.pi, rel=1e-9)
    low, high = loop.range()
    assert low == pytest.approx([-1, -1], rel=1e-6)
    assert high == pytest.approx([1, 1], rel=1e-6)
    assert multipliers(Smooth(stuart_landau, 2), loop)[0] == pytest.approx(math.exp(-2 * math.pi), rel=1e-4)


def test_a_cycle_with_delay_is_polished_to_its_closed_form() -> None:
    loop = polished(Smooth(turning, 1, 1.0), 0.9 * np.cos(ANGLES)[None, :], 4.1)
    assert loop is not None
    assert loop.period == pytest.approx(4.0, rel=1e-8)
    assert loop.range()[1][0] == pytest.approx(1.0, rel=1e-6)


def test_where_nothing_swings_there_is_no_loop_of_another_size() -> None:
    values = np.array([np.cos(ANGLES), np.sin(ANGLES)])
    assert polished(Smooth(lambda now, past: -now + 0 * past, 2), values, 1.0) is None


def test_interpolation_between_equal_points_is_exact_for_low_harmonics() -> None:
    places = np.array([0.0, 0.123, 0.7])
    found_at = shifted(np.array([1 + np.sin(2 * ANGLES)]), places)[0]
    assert found_at == pytest.approx(1 + np.sin(4 * math.pi * places), abs=1e-12)
    assert HarmonicLoop(np.array([np.cos(ANGLES)]), 8.0, 0.0).at(np.array([2.0]))[0] == pytest.approx(0, abs=1e-12)


def test_chebyshev_points_differentiate_and_interpolate_polynomials_exactly() -> None:
    points, matrix = chebyshev(6)
    assert (points[0], points[-1]) == (-1, 1)
    assert matrix @ points**5 == pytest.approx(5 * points**4, abs=1e-12)
    assert barycentric(points, 0.3) @ points**5 == pytest.approx(0.3**5, abs=1e-14)
    assert barycentric(points, points[2]).tolist() == [0, 0, 1, 0, 0, 0, 0]


def test_derivatives_are_by_component_and_by_the_delayed_one() -> None:
    values, past = np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]])
    now, then = jacobians(lambda x, y: np.array([x[0] * x[1], y[0] ** 2 * x[1]]), values, past)
    assert now[:, :, 0] == pytest.approx(np.array([[2, 1], [0, 9]]), abs=1e-6)
    assert then[:, :, 0] == pytest.approx(np.array([[0, 0], [12, 0]]), abs=1e-5)
