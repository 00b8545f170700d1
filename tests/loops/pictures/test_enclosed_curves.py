"""Frequency responses with discs: no frequency in an interval leaves its disc, of flows and of sampled loops."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.loops.interchange.open_loop import OpenLoop, opened_at
from coherence.loops.multirate.sampled_system import Sampler, checked
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.pictures.enclosed_curves import EnclosedCurve, enclosed

RESONANT = loop([0.9], [1, 0.12, 9], delay=10)


def rated(gain: float, delay: float) -> Network:
    return network([Block("plant", (gain,), (1.0, 0.0), delay, rate=1.0)], [Coupling("plant", "plant", -1)])


def edges(curve: EnclosedCurve) -> np.ndarray:
    """Returns the middle between neighbouring samples: it lies in one of the two intervals."""
    return np.asarray((curve.omega[1:] + curve.omega[:-1]) / 2)


def outside(curve: EnclosedCurve, exact: np.ndarray) -> int:
    """Counts values between samples that are in the disc of neither neighbour."""
    left = np.abs(exact - curve.value[:-1]) <= curve.radius[:-1] * (1 + 1e-9)
    right = np.abs(exact - curve.value[1:]) <= curve.radius[1:] * (1 + 1e-9)
    return int((~(left | right)).sum())


def test_a_resonance_with_delay_stays_in_its_discs() -> None:
    curve = enclosed(opened_at(RESONANT, "loop"))
    s = 1j * edges(curve)
    assert curve.certified
    assert outside(curve, 0.9 / (s * s + 0.12 * s + 9) * np.exp(-10 * s)) == 0
    assert float(np.abs(curve.value).max()) == pytest.approx(0.9 / (0.12 * 3), rel=0.02)


def test_a_sampled_integrator_stays_in_its_discs() -> None:
    curve = enclosed(opened_at(rated(0.5, 1.0), "plant"))
    z = np.exp(1j * edges(curve))
    assert outside(curve, 0.5 / (z * (z - 1))) == 0
    assert curve.omega[-1] < math.pi


def test_the_disc_of_an_inverse_holds_every_inverse() -> None:
    from coherence.loops.pictures.enclosed_curves import _inverted

    centre, radius = np.array([0.8 + 0.3j]), np.array([0.2])
    value, reach = _inverted(centre, radius)
    far = max(abs(1 / (centre[0] + radius[0] * cmath.exp(1j * t)) - 1 - value[0]) for t in np.linspace(0, 7, 500))
    assert far <= reach[0] * (1 + 1e-12)
    assert reach[0] <= 2 * far
    assert _inverted(centre, np.array([0.9]))[1][0] == math.inf  # 0 is inside


def test_several_decisions_in_a_lap_have_no_single_curve() -> None:
    system = checked(
        [Sampler("a", (-0.2,), period=1.0), Sampler("b", (-0.1,), period=2.0)],
        [Block("tank", (1.0,), (1.0, 0.0))],
        [Coupling("a", "tank"), Coupling("b", "tank"), Coupling("tank", "a"), Coupling("tank", "b")],
    )
    made: OpenLoop = opened_at(system, "a")
    with pytest.raises(UsageError, match="a decides 2 times in a lap"):
        enclosed(made)
