"""Margins of sampled loops: closed forms, python-control, and multipliers just below and just beyond each edge."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.loops.margins.sampled_margins import (
    CERTIFIED,
    MarginEdge,
    closed_lap,
    inside,
    phase_edge,
    sampled_margins,
)
from coherence.loops.multirate.opened_lap import OpenedLap

STEP = Fraction(15)  # s


def integrator(gain: float, delay: int) -> OpenedLap:
    """Returns y+ = y + v, w = -gain * y of so many steps ago."""
    size = delay + 1
    a = np.diag(np.ones(delay), -1)
    a[0, 0] = 1.0
    b, c = np.zeros((size, 1)), np.zeros((1, size))
    b[0, 0], c[0, -1] = 1.0, -gain
    return OpenedLap(a, b, c, np.zeros((1, 1)), STEP)


@pytest.mark.parametrize("delay", [0, 1, 2, 3, 5])
def test_a_delayed_integrator_has_the_margins_of_its_closed_form(delay: int) -> None:
    """Crossover where 2 sin(w/2) = gain; the phase there is 90 deg less w (d + 1/2) (Levin and May 1976)."""
    margins = sampled_margins(integrator(0.2, delay))
    assert margins is not None
    assert margins.high.at == pytest.approx(2 * math.sin(math.pi / (2 * (2 * delay + 1))) / 0.2, rel=1e-9)
    assert margins.high.frequency == pytest.approx(math.pi / (2 * delay + 1) / STEP, rel=1e-6)
    crossover = 2 * math.asin(0.1)
    assert margins.phase.at == pytest.approx(90 - math.degrees(crossover * (delay + 0.5)), rel=1e-9)
    assert margins.phase.frequency == pytest.approx(crossover / STEP, rel=1e-6)
    assert margins.low.at is None
    assert margins.high.certified
    assert margins.phase.certified


def test_a_dead_beat_integrator_has_the_peaks_of_1_minus_1_over_z() -> None:
    margins = sampled_margins(integrator(1.0, 0))
    assert margins is not None
    assert margins.sensitivity.value == pytest.approx(2.0, rel=1e-9)
    assert margins.sensitivity.frequency == math.pi / STEP
    assert margins.complementary.value == pytest.approx(1.0, rel=1e-9)
    assert margins.disk.size == pytest.approx(2 / 3, rel=1e-4)


@pytest.mark.parametrize("gain", [0.2, 0.5])
def test_a_peak_at_rest_is_at_frequency_0(gain: float) -> None:
    """T = gain / (z - 1 + gain) is largest, 1, at z = 1; S = (z - 1) / (z - 1 + gain), 2 / (2 - gain), at z = -1."""
    margins = sampled_margins(integrator(gain, 0))
    assert margins is not None
    assert margins.complementary.value == pytest.approx(1.0, rel=1e-12)
    assert margins.complementary.frequency == 0.0
    assert margins.sensitivity.value == pytest.approx(2 / (2 - gain), rel=1e-12)
    assert margins.sensitivity.frequency == math.pi / STEP


def test_what_is_not_stable_has_no_margins() -> None:
    assert sampled_margins(integrator(1.1, 1)) is None


@pytest.mark.filterwarnings("ignore:.*encountered in divide")
@pytest.mark.parametrize(("gain", "delay"), [(0.3, 1), (0.3, 2), (0.1, 4), (0.2, 2)])
def test_python_control_says_the_same_of_one_rate(gain: float, delay: int) -> None:
    import control

    of = control.tf([gain], np.polymul([1, -1], [1] + [0] * delay), float(STEP))
    with np.errstate(divide="ignore", invalid="ignore"):  # at its pole 1
        gm, pm, sm, wpc, wgc, _ = control.stability_margins(of)
    margins = sampled_margins(integrator(gain, delay))
    assert margins is not None
    assert (margins.high.at, margins.phase.at) == pytest.approx((gm, pm), rel=1e-6)
    assert (margins.high.frequency, margins.phase.frequency) == pytest.approx((wpc, wgc), rel=1e-5)
    assert margins.sensitivity.value == pytest.approx(1 / sm, rel=1e-3)  # it looks at a grid


def drawn_lap(seed: int, states: int, decisions: int) -> OpenedLap:
    draw = np.random.default_rng(seed)
    a = draw.normal(size=(states, states))
    a *= draw.uniform(0.2, 0.95) / max(np.abs(np.linalg.eigvals(a)).max(), 1e-9)
    d = np.tril(draw.normal(size=(decisions, decisions)), -1) * 0.3
    b, c = draw.normal(size=(states, decisions)), draw.normal(size=(decisions, states)) * 0.3
    return OpenedLap(a, b, c, d, STEP)


def grown(lap: OpenedLap, k: complex) -> float:
    return float(np.abs(np.linalg.eigvals(closed_lap(lap, k).a)).max())


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 6), st.integers(1, 3))
def test_every_factor_up_to_the_edge_is_stable_and_beyond_it_is_not(seed: int, states: int, decisions: int) -> None:
    lap = drawn_lap(seed, states, decisions)
    margins = sampled_margins(lap)
    if margins is None:
        assert not inside(lap, 1.0)
        return
    for edge, factor in ((margins.low, complex), (margins.high, complex), (margins.phase, turned)):
        start = 0.0 if edge is margins.phase else 1.0
        assert all(grown(lap, factor(x)) < 1 + 1e-9 for x in np.linspace(start, edge.proved, 60))
        if edge.at is not None and edge.beyond is not None:
            assert grown(lap, factor(edge.at)) == pytest.approx(1.0, abs=1e-6)
            assert grown(lap, factor(edge.beyond)) > 1
    sensitivity, complementary = peaks_on_a_grid(lap)
    assert sensitivity <= margins.sensitivity.bound
    assert complementary <= margins.complementary.bound


def turned(degrees: float) -> complex:
    return complex(np.exp(-1j * math.radians(degrees)))


def peaks_on_a_grid(lap: OpenedLap) -> tuple[float, float]:
    z = np.exp(1j * np.linspace(0, math.pi, 400))[:, None, None]
    way = lap.d + lap.c @ np.linalg.inv(z * np.eye(len(lap.a)) - lap.a) @ lap.b
    s = np.linalg.inv(np.eye(lap.decisions) - way)

    def largest(matrices: Any) -> float:
        return float(np.linalg.norm(matrices, 2, axis=(1, 2)).max())

    return largest(s), largest(s - np.eye(lap.decisions))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 5))
def test_more_delay_never_adds_to_the_phase_margin_of_a_loop_whose_gain_falls(seed: int, delay: int) -> None:
    gain = np.random.default_rng(seed).uniform(0.01, 2 * math.sin(math.pi / (2 * (2 * delay + 3))) * 0.99)
    first, later = (phase_edge(integrator(float(gain), d)).at for d in (delay, delay + 1))
    assert first is not None
    assert later is not None
    assert later < first


def test_an_edge_far_from_its_proof_is_an_estimate() -> None:
    assert MarginEdge(2.0, 2.0 * (1 - CERTIFIED / 2), 2.0, 1.0).certified
    assert not MarginEdge(2.0, 1.9, 2.0, 1.0).certified
    assert MarginEdge(None, 100.0, None, None).certified
