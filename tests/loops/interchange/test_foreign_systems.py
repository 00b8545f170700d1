"""Systems of python-control and scipy.signal as polynomials and matrices, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import signal

from coherence.base.errors import UsageError
from coherence.loops.interchange.foreign_systems import Ratio, StateMatrices, foreign_system

control = pytest.importorskip("control", reason="python-control is not installed")
EXPECTED = Ratio((2.0,), (1.0, 3.0, 2.0))


def same(system: Any, period: float | None = None) -> bool:
    ratio = foreign_system(system, "plant")
    assert isinstance(ratio, Ratio)
    tops = np.trim_zeros(ratio.numerator, "f")
    return np.allclose(tops, [2]) and np.allclose(ratio.denominator, [1, 3, 2]) and ratio.period == period


def test_one_transfer_function_in_every_dress() -> None:
    assert same(control.tf([2], [1, 3, 2]))
    assert same(control.zpk([], [-1, -2], 2))
    assert same(signal.TransferFunction([2], [1, 3, 2]))
    assert same(signal.lti([], [-1, -2], 2))
    assert same(([2], [1, 3, 2]))
    assert same(([], [-1, -2], 2))
    assert same(control.tf([2], [1, 3, 2], 0.5), 0.5)
    assert same(signal.dlti([2], [1, 3, 2], dt=0.5), 0.5)
    assert foreign_system(3, "gain") == Ratio((3.0,), (1.0,))


@pytest.mark.parametrize("make", [control.ss, signal.StateSpace, lambda *matrices: matrices])
def test_state_spaces_keep_their_matrices(make: Any) -> None:
    model = foreign_system(make([[0, 1], [-2, -3]], [[0], [1]], [[2, 0]], [[0]]), "plant")
    assert isinstance(model, StateMatrices)
    assert model.a.tolist() == [[0, 1], [-2, -3]]
    assert (model.b.shape, model.c.shape, model.d.shape, model.period) == ((2, 1), (1, 2), (1, 1), None)


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (control.frd([1, 2], [1, 2]), "without a model"),
        (control.nlsys(None, lambda _t, _x, u, _p: u, inputs=1, outputs=1), "linearize it first"),
        (control.tf([1], [1, 0.5], True), "give its dt in seconds"),
        (signal.dlti([1], [1, 0.5]), "give its dt in seconds"),
        ("1/s", "plant is str"),
        (([1], [1, 1], [1], [1], 3), "a tuple of 5"),
        (([1], [1j], 1), "must come in pairs"),
    ],
)
def test_what_has_no_model_is_refused_with_the_reason(system: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        foreign_system(system, "plant")
