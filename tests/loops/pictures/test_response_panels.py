"""Bode and Nyquist panels: one curve for each loop, the band around it, and the phase that a delay winds."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.loops.interchange.open_loop import opened_at
from coherence.loops.networks.network import Block, Coupling, loop, network
from coherence.loops.pictures.enclosed_curves import enclosed
from coherence.loops.pictures.response_panels import bode_panels, nyquist_panel

QUEUE = enclosed(opened_at(loop([0.05], [1, 0], delay=10), "loop"))


def test_an_integrator_with_delay_has_its_gain_and_phase() -> None:
    gain, phase = bode_panels([QUEUE])
    for omega, size in gain.lines[0].points:
        assert size == pytest.approx(0.05 / omega, rel=1e-9)
    for omega, degrees in phase.lines[0].points:
        assert degrees == pytest.approx(-90 - np.degrees(10 * omega), abs=1e-6)
    assert all(low <= 0.05 / omega <= high for omega, low, high in gain.bands[0].points)
    assert (gain.x, gain.y, phase.y) == ("frequency, rad/s", "gain (ratio)", "phase, degrees")


def test_the_nyquist_panel_shows_the_critical_point_and_the_discs() -> None:
    panel = nyquist_panel([QUEUE])
    assert panel.dots[0].points == ((-1.0, 0.0),)
    assert panel.circle == 1.0
    assert len(panel.discs[0].points) == sum(len(line.points) for line in panel.lines)


def test_ten_loops_are_ten_curves() -> None:
    blocks = [Block(f"b{k}", (1.0,), (10.0 + k, 1.0), 1.0) for k in range(10)]
    net = network(blocks, [*(Coupling(b.name, b.name, -1) for b in blocks)])
    curves = [enclosed(opened_at(net, block.name)) for block in blocks]
    gain, _ = bode_panels(curves)
    assert len({line.name for line in gain.lines}) == len({line.style for line in gain.lines}) == 10
