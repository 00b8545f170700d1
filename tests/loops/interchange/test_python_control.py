"""python-control systems in and out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.loops.interchange.network_parts import network
from coherence.loops.interchange.python_control import frequency_response, state_space
from coherence.loops.margins.interaction_disk import multiloop_disk
from coherence.loops.margins.network_margins import margins
from coherence.loops.margins.peaks import amplification
from coherence.loops.networks.network import Network, loop
from coherence.loops.networks.stability import stability

control = pytest.importorskip("control", reason="python-control is not installed")


def closed(plant: object, couplings: list[tuple[str, str, float]] | None = None) -> Network:
    """Returns a plant alone, in negative feedback unless couplings are named."""
    net = network({"plant": plant}, [("plant", "plant", -1.0)] if couplings is None else couplings)
    assert isinstance(net, Network)
    return net


@pytest.mark.slow
def test_margins_equal_those_of_python_control_where_there_is_no_delay() -> None:
    plant = control.tf([2], [1, 3, 3, 1])
    loop_margins = margins(closed(plant)).margins
    assert loop_margins is not None
    gain, phase, modulus, *_ = control.stability_margins(plant)
    assert (loop_margins.upper_gain, loop_margins.phase) == pytest.approx((gain, phase), rel=1e-9)
    assert loop_margins.sensitivity.value == pytest.approx(1 / modulus, rel=1e-4)
    size, decibels, _ = control.disk_margins(plant, np.geomspace(0.1, 10, 20_000))
    assert loop_margins.disk.size == pytest.approx(size, rel=1e-4)
    assert 20 * math.log10(loop_margins.disk.high) == pytest.approx(float(decibels), rel=1e-4)


def test_python_control_gives_disk_margins_of_an_unstable_loop_and_we_do_not() -> None:
    plant = control.tf([20], [1, 3, 3, 1])
    assert control.disk_margins(plant, np.geomspace(0.1, 10, 100))[0] > 0
    assert margins(closed(plant)).margins is None


@pytest.mark.slow
def test_a_state_space_with_several_inputs_becomes_its_network() -> None:
    plant = control.ss([[0, 10], [-10, 0]], np.eye(2), [[1, 10], [-10, 1]], np.zeros((2, 2)))
    net = closed(plant, [(f"plant_y{k}", f"plant_u{k}", -1) for k in (1, 2)])
    assert stability(net).verdict == "stable"
    whole = state_space(net)
    assert sorted(whole.poles().real) == pytest.approx([-1, -1])
    disk = multiloop_disk(net, ["plant_u1", "plant_u2"]).disk
    assert disk is not None
    assert disk.size == pytest.approx(0.0997512, rel=1e-4)


def test_norms_agree() -> None:
    made = closed(control.ss([[0, 1], [-1, -0.2]], [[0], [1]], [[1, 0]], [[0]]), [])
    peak = amplification(made, inputs=["plant_u1"], outputs=["plant"]).peak
    assert peak is not None
    assert peak.value == pytest.approx(5.0251891, rel=1e-7)


def test_a_delay_has_an_exact_response_and_no_state_space() -> None:
    net = loop([0.2 * 9], [1, 0.12, 9], 10)
    with pytest.raises(UsageError, match="frequency_response"):
        state_space(net)
    assert stability(net).verdict == "unstable"
    assert max(state_space(net, pade=10).poles().real) < 0  # the trap
    omega = np.array([0.3, 1.0, 5.0])
    opened = 1.8 / ((1j * omega) ** 2 + 0.12j * omega + 9) * np.exp(-10j * omega)
    assert np.allclose(frequency_response(net, omega)(1j * omega), opened / (1 + opened))
