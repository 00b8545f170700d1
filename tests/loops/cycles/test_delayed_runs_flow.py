"""One affine flow against its closed form, and where polynomials leave an interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.loops.cycles.delayed_runs_flow import Flow, first_exit, turns

approx: Any = pytest.approx

LAG = Flow(np.array([[-0.5]]), np.array([1.0]), np.array([[1.0]]))  # x' = 1 - x / 2: x = 2 - (2 - x0) exp(-t / 2)
RAMP = Flow(np.array([[0.0]]), np.array([3.0]), np.array([[2.0]]))  # x' = 3, y = 2 x
REST = np.array([0.0, 1.0])


@pytest.mark.parametrize("time", [0.0, 0.1, 3.0, 500.0])
def test_a_lag_is_its_exponential_after_any_time(time: float) -> None:
    expected = 2 - 2 * math.exp(-time / 2)
    assert LAG.after(REST, time)[0] == approx(expected, rel=1e-12, abs=1e-15)
    assert (LAG.over(time) @ REST)[0] == approx(expected, rel=1e-12, abs=1e-15)
    assert LAG.area(REST, 0, time) == approx(2 * time - 4 * (1 - math.exp(-time / 2)), rel=1e-9, abs=1e-12)


def test_a_lag_leaves_an_interval_upwards_when_its_exponential_does() -> None:
    place, direction = LAG.leaves(REST, 0, (-1.0, 1.0), 100.0, 0.0) or (0.0, 0)
    assert (place, direction) == (approx(2 * math.log(2), rel=1e-12), 1)
    assert LAG.leaves(REST, 0, (-1.0, 2.5), 100.0, 0.0) is None
    assert LAG.leaves(REST, 0, (-1.0, 1.0), 1.0, 0.0) is None
    assert LAG.leaves(REST, 0, (-math.inf, math.inf), 100.0, 0.0) is None


def test_a_ramp_leaves_downwards_where_it_falls() -> None:
    falling = Flow(np.array([[0.0]]), np.array([-3.0]), np.array([[2.0]]))
    assert falling.leaves(REST, 0, (-12.0, 1.0), math.inf, 0.0) == (approx(2.0), -1)
    assert RAMP.range(REST, 0, 5.0) == approx((0.0, 30.0))


def test_a_start_outside_leaves_at_once_unless_by_rounding() -> None:
    p = np.array([-1.0, 1.0 + 1e-12])  # falls back into [0, 1]
    assert first_exit(p, (0.0, 1.0), 0.5, 0.0, exact=True) == (0.0, 1)
    assert first_exit(p, (0.0, 1.0), 0.5, 1e-9, exact=True) is None
    assert first_exit(np.array([1.0, -0.5]), (0.0, 1.0), 1.0, 0.0, exact=True) == (0.0, -1)


def test_the_first_of_several_exits_is_found() -> None:
    p: Any = np.poly([1.0, 3.0])  # (s - 1)(s - 3): 3 at 0, -1 at 2
    assert first_exit(p, (0.0, 4.0), 5.0, 0.0, exact=True) == (approx(1.0), -1)
    assert first_exit(p, (-2.0, 4.0), 5.0, 0.0, exact=True) == (approx(2 + math.sqrt(5)), 1)
    assert first_exit(p, (-2.0, 4.0), 4.0, 0.0, exact=True) is None


@given(st.lists(st.integers(1, 19).map(lambda n: n / 10), min_size=1, max_size=4, unique=True))
def test_turning_points_are_the_roots_of_the_derivative(places: list[float]) -> None:
    p: Any = np.polyint(np.poly(places))
    assert turns(p, 1.55, exact=True) == approx(sorted(s for s in places if s < 1.55), abs=1e-5)
