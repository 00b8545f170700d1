"""The continuous part of a sampled system."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.loops.multirate.plant import Motion, canonical, clocks, plant, zeros
from coherence.loops.multirate.sampled_system import Sampler, checked
from coherence.loops.networks.network import Block, Coupling


def test_the_canonical_form_has_the_transfer_function() -> None:
    """(2 s^2 + 3 s + 4) / (2 s^2 + 6 s + 10) at s = 1: 9 / 18."""
    a, b, c, d = canonical([2.0, 3.0, 4.0], [2.0, 6.0, 10.0], exact=False)
    assert a.tolist() == [[-3, -5], [1, 0]]
    assert d[0, 0] == 1
    assert (c @ np.linalg.solve(np.eye(2) - a, b) + d)[0, 0] == pytest.approx(0.5)


def test_exact_zeros_are_rational() -> None:
    assert all(isinstance(x, Fraction) for x in zeros((2, 3), exact=True).ravel())
    assert zeros((2, 3), exact=False).dtype == float


def test_clocks_move_delays_to_the_ends_of_a_chain() -> None:
    one, two, five = map(Fraction, (1, 2, 5))
    assert clocks([(0, 1, one), (1, 2, one)], [one, two, five]) == [7, 5, 0]
    assert clocks([], [one, two]) == [0, 0]
    with pytest.raises(UsageError, match="form a loop"):
        clocks([(0, 1, one), (1, 0, one)], [one, Fraction(0)])
    with pytest.raises(UsageError, match="two paths"):
        clocks([(0, 1, one), (0, 2, one), (1, 3, one), (2, 3, one)], [one, one, two, one])
    assert clocks([(0, 1, one), (1, 0, one)], [Fraction(0)] * 2) == [0, 0]


def test_the_motion_of_integrators_is_a_polynomial_of_rationals_and_agrees_with_floats() -> None:
    a = np.array([[0, 0], [1, 0]], dtype=object) * Fraction(1)
    exact, numeric = Motion(a, exact=True), Motion(a.astype(float), exact=False)
    h = Fraction(1, 3)
    over, once, twice = exact.over(h)
    assert over.tolist() == [[1, 0], [h, 1]]
    assert once.tolist() == [[h, 0], [h * h / 2, h]]
    assert twice.tolist() == [[h * h / 2, 0], [h**3 / 6, h * h / 2]]
    for rational, floating in zip(exact.over(h), numeric.over(h), strict=True):
        assert floating == pytest.approx(rational.astype(float), abs=1e-15)


def test_the_motion_of_a_lag_is_its_exponential() -> None:
    over, once, twice = Motion(np.array([[-2.0]]), exact=False).over(Fraction(1, 2))
    assert over[0, 0] == pytest.approx(math.exp(-1))
    assert once[0, 0] == pytest.approx((1 - math.exp(-1)) / 2)
    assert twice[0, 0] == pytest.approx((0.5 - (1 - math.exp(-1)) / 2) / 2)


def test_a_plant_of_integrators_is_exact_and_one_with_a_lag_is_not() -> None:
    couplings = [Coupling("c", "x", 2.0), Coupling("x", "c")]
    integrator = plant(checked([Sampler("c", (-0.5,), period=1)], [Block("x", (1.0,), (1.0, 0.0), 0.3)], couplings))
    assert integrator.exact
    assert integrator.channels == ((0, Fraction(3, 10)),)
    assert integrator.b.tolist() == [[2]]
    lag = plant(checked([Sampler("c", (-0.5,), period=1)], [Block("x", (1.0,), (1.0, 1.0))], couplings))
    assert not lag.exact
    assert lag.a.tolist() == [[-1.0]]


def test_an_algebraic_loop_of_blocks_is_refused() -> None:
    blocks = [Block("x", (1.0,), (1.0,)), Block("y", (1.0,), (1.0,))]
    couplings = [Coupling("c", "x"), Coupling("x", "y"), Coupling("y", "x"), Coupling("x", "c")]
    with pytest.raises(UsageError, match="algebraic loop"):
        plant(checked([Sampler("c", (-0.5,), period=1)], blocks, couplings))
