"""One smooth piece of a flow against its closed form, and the first guard that falls below zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from coherence.language.expressions.evaluate import NotExactError
from coherence.simulate.execute.ode import Integral, LinearIntegral

FREE = (np.array([1.0]), [0.0])


def decay(guard: float | None = None) -> Integral:
    """y' = -y from 1; with a guard at this height."""

    def guards(_: float, y: Any) -> Any:
        return FREE if guard is None else (np.array([1.0, y[0] - guard]), [0.0, 0.0])

    return Integral(np.array([1.0]), lambda _, y: -y, guards)


def test_a_decay_is_the_exponential_at_every_time_and_so_is_its_slope() -> None:
    integral = decay()
    assert integral.extend(5.0) is None
    for time in np.linspace(0, 5, 23):
        assert integral.at(time)[0] == pytest.approx(math.exp(-time), abs=1e-9)
        assert integral.slope(time)[0] == pytest.approx(-math.exp(-time), abs=2e-5)


def test_an_event_is_where_the_guard_passes_zero_and_nothing_goes_beyond_it() -> None:
    integral = decay(guard=0.25)
    assert integral.extend(9.0) == pytest.approx(math.log(4), abs=1e-9)
    assert integral.extend(20.0) == integral.event
    assert integral.residual <= 1e-9
    assert integral.at(9.0)[0] == pytest.approx(0.25, abs=1e-9)


def test_no_event_before_the_limit_and_it_is_found_when_the_limit_grows() -> None:
    integral = decay(guard=0.25)
    assert integral.extend(1.0) is None
    assert integral.extend(2.0) == pytest.approx(math.log(4), abs=1e-9)


def test_of_two_guards_the_earlier_one_ends_the_piece() -> None:
    def guards(_: float, y: Any) -> Any:
        return np.array([y[0] - 0.2, y[0] - 0.5]), [0.0, 0.0]

    integral = Integral(np.array([1.0]), lambda _, y: -y, guards)
    assert integral.extend(9.0) == pytest.approx(math.log(2), abs=1e-9)


def test_before_any_step_the_start_and_its_rate_are_known() -> None:
    assert decay().at(3.0)[0] == 1.0
    assert decay().slope(0.0)[0] == -1.0


def test_a_flow_that_grows_without_bound_is_an_answer() -> None:
    explosion = Integral(np.array([1.0]), lambda _, y: y * y, lambda *_: FREE)
    with pytest.raises(NotExactError, match="cannot be followed beyond 1 s"):
        explosion.extend(2.0)


def test_a_linear_flow_in_closed_form_is_the_integrated_one_at_every_time() -> None:
    matrix, drive, start = np.array([[-0.5, 2.0], [-3.0, 0.1]]), np.array([1.0, -40.0]), np.array([5.0, 0.0])
    stepped = Integral(start, lambda _, y: matrix @ y + drive, lambda *_: FREE)
    closed = LinearIntegral(start, matrix, drive)
    assert stepped.extend(6.0) is closed.extend(6.0) is None
    for time in np.linspace(0, 6, 25):
        assert closed.at(time) == pytest.approx(stepped.at(time), rel=1e-9, abs=1e-9)
        assert closed.slope(time) == pytest.approx(matrix @ closed.at(time) + drive)


def test_a_linear_flow_that_leaves_the_floats_is_an_answer() -> None:
    with pytest.raises(NotExactError, match="leaves the floats"), np.errstate(all="ignore"):
        LinearIntegral(np.array([1.0]), np.array([[1.0]]), np.array([0.0])).extend(1e6)


def test_guards_are_looked_at_once_a_step_where_there_are_none() -> None:
    looks: list[float] = []

    def guards(time: float, _: Any) -> Any:
        looks.append(time)
        return np.array([]), []

    integral = Integral(np.array([1.0]), lambda _, y: -y, guards)
    assert integral.extend(5.0) is None
    assert len(looks) == len(integral.parts)
