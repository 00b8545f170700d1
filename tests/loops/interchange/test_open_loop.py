"""Loops opened as python-control systems, and python-control's own figures and plots of them beside ours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.interchange.open_loop import opened_at
from coherence.loops.margins.network_margins import margins
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from tests.draws import few

control = pytest.importorskip("control", reason="python-control is not installed")
OMEGA = np.array([0.01, 0.3, 1.0, 7.0])


def test_a_delayed_integrator_is_its_formula() -> None:
    systems = opened_at(loop([0.05], [1, 0], 10), "loop").over(OMEGA)
    formula = 0.05 / (1j * OMEGA) * np.exp(-10j * OMEGA)
    assert np.allclose(systems.L(1j * OMEGA), formula)
    assert np.allclose(systems.S(1j * OMEGA), 1 / (1 + formula))
    assert np.allclose(systems.T(1j * OMEGA), formula / (1 + formula))


def test_a_rational_loop_is_a_state_space_with_the_margins_that_we_compute() -> None:
    net = loop([2], [1, 3, 3, 1])
    opened = opened_at(net, "loop")
    gain, phase, *_ = control.stability_margins(opened.L)
    ours = margins(net).margins
    assert ours is not None
    assert (gain, phase) == pytest.approx((ours.upper_gain, ours.phase), rel=1e-9)
    assert sorted(opened.S.poles().real) == pytest.approx(sorted(np.roots([1, 3, 3, 3]).real))


@pytest.mark.slow
@settings(max_examples=few(40), deadline=None)
@given(st.data())
def test_the_three_systems_of_random_networks_belong_together(data: st.DataObject) -> None:
    net = drawn_network(data)
    opened = opened_at(net, "a")
    response, systems = opened.over(OMEGA), opened.systems
    for name in ("L", "S", "T"):
        if opened.rational:
            assert np.allclose(getattr(systems, name)(1j * OMEGA), getattr(response, name)(1j * OMEGA), rtol=1e-6)
    sensitivity = response.S(1j * OMEGA)
    assert np.allclose(sensitivity * (1 + response.L(1j * OMEGA)), 1, rtol=1e-6)
    assert np.allclose(sensitivity + response.T(1j * OMEGA), 1, rtol=1e-6)


def drawn_network(data: st.DataObject) -> Network:
    """Draws one to three lags with or without delays, each coupled back to the first."""
    names = "abc"[: data.draw(st.integers(1, 3))]
    delays = st.sampled_from([0.0, 0.0, 0.5, 3.0])
    numbers = st.floats(0.2, 3)
    blocks = [Block(n, (data.draw(numbers),), (1.0, data.draw(numbers)), data.draw(delays)) for n in names]
    gains = st.floats(-0.9, 0.9).filter(lambda gain: abs(gain) > 1e-3)
    pairs = [(s, t) for s in names for t in names if "a" in (s, t)]
    return network(blocks, [Coupling(s, t, data.draw(gains)) for s, t in pairs])


def test_sampled_loops_are_discrete_state_spaces() -> None:
    net = network([Block("queue", (1.0,), (1.0, 0.0), 10.0), Block("scaler", (0.05,), (1.0,), rate=15.0)],
                  [Coupling("queue", "scaler"), Coupling("scaler", "queue", -1)])  # fmt: skip
    opened = opened_at(net, "scaler")
    assert opened.L.dt == 15
    z = np.exp(1j * OMEGA[:1] * 15)
    assert np.allclose(opened.L(z), 0.05 * (5 * z + 10) / (z * (z - 1)))
    assert np.allclose(opened.over(OMEGA[:1]).L(1j * OMEGA[:1]), opened.L(z))
    assert max(abs(opened.S.poles())) == pytest.approx(math.sqrt(0.5))
    with pytest.raises(UsageError, match="open the loop at scaler"):
        opened_at(net, "queue")


def test_what_is_in_no_loop_is_refused() -> None:
    net = network([Block("a", (1.0,), (1.0, 1.0)), Block("b", (1.0,), (1.0, 1.0))], [Coupling("a", "b")])
    with pytest.raises(UsageError, match="a is in no loop"):
        opened_at(net, "a")
    with pytest.raises(UsageError, match="'c' is no block"):
        opened_at(net, "c")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_plots_of_python_control_draw_them() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    delayed = opened_at(loop([0.05], [1, 0], 10), "loop").over(OMEGA)
    lines = control.bode_plot(delayed.L).lines
    omega, sizes = lines[0, 0][0].get_data()
    assert np.allclose(omega, OMEGA)
    assert np.allclose(sizes, np.abs(delayed.L(1j * OMEGA)))
    rational = opened_at(loop([2], [1, 3, 3, 1]), "loop").L
    assert control.nyquist_response(rational).count == 0
    assert control.nyquist_response(opened_at(loop([20], [1, 3, 3, 1]), "loop").L).count == 2
    control.nyquist_plot(rational)
    sampled = network([Block("p", (1.0,), (1.0, 0.0), rate=1.0)], [Coupling("p", "p", -0.5)])
    control.bode_plot(opened_at(sampled, "p").L)
    matplotlib.pyplot.close("all")
