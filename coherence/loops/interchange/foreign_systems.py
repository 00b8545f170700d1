"""Reads systems of python-control and scipy.signal: their polynomials or matrices, and their period.

Accepted: tf, zpk and ss of both, in continuous and discrete time; scipy's tuples (numerator, denominator),
(zeros, poles, gain) and (A, B, C, D); numbers.  What has no finite model is refused: between the points of a frequency
response any number of roots may hide, and a nonlinear system has no transfer function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ACCEPTED = "a tf, zpk or ss of python-control or scipy.signal, a tuple of one, a number or a Block"


@dataclass(frozen=True)
class Ratio:
    """One input and one output: polynomials in s, or in z of a `period` (s), by descending powers."""

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    period: float | None = None


@dataclass(frozen=True)
class StateMatrices:
    """x' = A x + B u, y = C x + D u; of a `period` (s) x[k+1] = A x[k] + B u[k]."""

    a: Array
    b: Array
    c: Array
    d: Array
    period: float | None = None


def foreign_system(system: Any, name: str) -> Ratio | StateMatrices:
    """Returns the polynomials or matrices of a system.  Raises UsageError with the reason where it has none."""
    home = type(system).__module__.split(".")[0]
    try:
        if isinstance(system, int | float | np.number):
            return Ratio((float(system),), (1.0,))
        if isinstance(system, tuple):
            return _of_tuple(system, name)
        if home == "control":
            return _of_control(system, name)
        if home == "scipy":
            return _of_scipy(system, name)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} cannot be read: {error}; give {ACCEPTED}") from None
    raise UsageError(f"{name} is {type(system).__name__}: give {ACCEPTED}")


def _of_tuple(system: tuple[Any, ...], name: str) -> Ratio | StateMatrices:
    if len(system) == 2:
        return _ratio(system[0], system[1], None)
    if len(system) == 3:
        return _of_zeros(*system, None)
    if len(system) == 4:
        return _states(*system, None)
    raise UsageError(f"{name} is a tuple of {len(system)}: give {ACCEPTED}")


def _of_control(system: Any, name: str) -> Ratio | StateMatrices:
    kind = type(system).__name__
    if kind == "FrequencyResponseData":
        raise UsageError(
            f"{name} is a frequency response without a model: between its points any number of roots may hide, so no "
            "verdict follows from it; give a tf or ss, or lay it beside `linearize(...).over(omega)`"
        )
    if kind not in ("TransferFunction", "StateSpace"):
        raise UsageError(f"{name} is {kind}, which has no transfer function: linearize it first (control.linearize)")
    period = _period(system.dt, name)
    if kind == "StateSpace" or system.ninputs * system.noutputs != 1:
        states = system if kind == "StateSpace" else _realised(system)
        return _states(states.A, states.B, states.C, states.D, period)
    return _ratio(system.num[0][0], system.den[0][0], period)


def _realised(system: Any) -> Any:
    import control

    return control.ss(system)


def _of_scipy(system: Any, name: str) -> Ratio | StateMatrices:
    period = _period(system.dt, name)
    if type(system).__name__.startswith("StateSpace"):
        return _states(system.A, system.B, system.C, system.D, period)
    if type(system).__name__.startswith("ZerosPolesGain"):
        return _of_zeros(system.zeros, system.poles, system.gain, period)
    return _ratio(system.num, system.den, period)


def _period(dt: Any, name: str) -> float | None:
    """Returns the sampling period; None in continuous time."""
    if dt is True:
        raise UsageError(f"{name} is in discrete time of no stated period: give its dt in seconds")
    return float(dt) if dt else None


def _ratio(numerator: Any, denominator: Any, period: float | None) -> Ratio:
    tops, bottoms = (np.atleast_1d(np.asarray(p, dtype=float)) for p in (numerator, denominator))
    if tops.ndim > 1 and len(tops) > 1:
        raise ValueError("several outputs in one transfer function: give a state space")
    return Ratio(tuple(map(float, tops.ravel())), tuple(map(float, bottoms)), period)


def _of_zeros(zeros: Sequence[Any], poles: Sequence[Any], gain: Any, period: float | None) -> Ratio:
    top, bottom = (np.atleast_1d(np.poly(np.asarray(roots))) for roots in (zeros, poles))
    if max(np.abs(top.imag).max(), np.abs(bottom.imag).max()) > 0:
        raise ValueError("complex zeros and poles must come in pairs")
    return _ratio(float(gain) * top.real, bottom.real, period)


def _states(a: Any, b: Any, c: Any, d: Any, period: float | None) -> StateMatrices:
    matrices = [np.atleast_2d(np.asarray(matrix, dtype=float)) for matrix in (a, b, c, d)]
    size, (outputs, inputs) = (0 if matrices[0].size == 0 else len(matrices[0])), matrices[3].shape
    shapes = ((size, size), (size, inputs), (outputs, size), (outputs, inputs))
    a, b, c, d = (matrix.reshape(shape) for matrix, shape in zip(matrices, shapes, strict=True))
    return StateMatrices(a, b, c, d, period)
