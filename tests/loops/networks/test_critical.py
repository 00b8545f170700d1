"""Critical gains and delays to 1e-6, windows of delay, boxes of uncertain values, and maps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.networks.critical import critical_delay, critical_gain, delay_crossings, delay_windows
from coherence.loops.networks.critical_boxes import Range, at_middle
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.networks.stability_map import INFINITE, stability_map
from tests.draws import few
from tests.loops.networks.box_verdicts import box_verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "gain", "frequency"),
    [
        (loop([1], [1, 0], 30), math.pi / 60, math.pi / 60),
        (loop([1], [1, 1], 1), 2.2618263, 2.0287578),
        (loop([-6, 3], [50, 15, 1]), 2.5, 0.41231056),
        (loop([1], [1, 2, 1, 0]), 2.0, 1.0),
        (loop([12.8], [16.7, 1], 1), 2.0994147, 1.6080177),
        (loop([19.4], [14.4, 1], 3), 0.42210042, 0.5644069),
    ],
)
def test_critical_gains_of_textbooks(made: Network, gain: float, frequency: float) -> None:
    result = critical_gain(made)
    assert result.at == pytest.approx(gain, rel=1e-6)
    assert result.frequency == pytest.approx(frequency, rel=1e-6)
    assert result.proved == pytest.approx(gain, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("matrix", "gain"), [([[1, 1], [-1, 1]], 0.55536037), ([[1, 0.6], [0.6, 1]], 0.9817477)])
def test_critical_gain_of_interacting_loops(matrix: list[list[float]], gain: float) -> None:
    blocks = [Block(name, (1.0,), (1.0, 0.0), 1.0) for name in "ab"]
    couplings = [Coupling("ab"[j], "ab"[i], -matrix[i][j]) for i in range(2) for j in range(2)]
    assert critical_gain(network(blocks, couplings), ["a", "b"]).at == pytest.approx(gain, rel=1e-7)


@pytest.mark.slow
def test_a_predictor_with_a_wrong_delay() -> None:
    blocks = [Block("plant", (1.0,), (1.0, 0.0)), Block("model", (2.0,), (1.0,)), Block("late", (2.0,), (1.0,), 1.0)]
    blocks.append(Block("real", (2.0,), (1.0,), 1.0))
    signs = {"model": -1.0, "late": 1.0, "real": -1.0}
    couplings = [Coupling("plant", name) for name in signs] + [Coupling(n, "plant", g) for n, g in signs.items()]
    result = critical_delay(network(blocks, couplings), ["real"], highest=10)
    assert result.at == pytest.approx(2.6272353, rel=1e-7)


@pytest.mark.slow
@given(st.floats(0.01, 10))
@settings(max_examples=3, deadline=None)
def test_critical_delay_of_an_integrator(gain: float) -> None:
    result = critical_delay(loop([gain], [1, 0], 0.1 / gain), highest=10 / gain)
    assert result.at == pytest.approx(math.pi / 2 / gain, rel=1e-9)


def test_no_critical_delay_is_proved_by_boxes() -> None:
    result = critical_delay(loop([0.5], [1, 1], 0.1), highest=5)
    assert (result.at, result.proved, result.before, result.reason) == (None, 5, "stable", "")


@pytest.mark.slow
def test_windows_of_delay() -> None:
    numerator, denominator = [0.9], [1, 0.12, 9]
    windows = delay_windows(numerator, denominator, 12)
    assert len(windows) == 7
    crossings = [crossing.at for crossing in delay_crossings(numerator, denominator, 12)]
    assert windows[0] == (0.0, crossings[0])
    assert {edge for window in windows for edge in window} <= {0.0, 12, *crossings}
    for low, high in windows[:-1]:
        assert verdict(loop(numerator, denominator, (low + high) / 2)).verdict == "stable"
        assert verdict(loop(numerator, denominator, high * (1 + 1e-6))).verdict == "unstable"
    assert critical_delay(loop(numerator, denominator, 0.01), highest=1).at == pytest.approx(windows[0][1], rel=1e-9)


# boxes


EDGE = loop([0.03], [1, 0], 30)  # stable while gain * 0.03 * delay < pi / 2


def test_a_box_inside_the_stable_region_is_stable() -> None:
    box = [Range("loop", "gain", 0.5, 1.5), Range("loop", "delay", 20, 34)]
    assert box_verdict(EDGE, box).verdict == "stable"


def test_a_box_across_the_edge_says_where() -> None:
    box = [Range("loop", "gain", 0.5, 1.5), Range("loop", "delay", 20, 36)]
    result = box_verdict(EDGE, box)
    assert result.verdict == "changes"
    assert result.stable_at is not None
    assert result.unstable_at is not None
    assert verdict(at_middle(EDGE, result.stable_at)).verdict == "stable"
    assert verdict(at_middle(EDGE, result.unstable_at)).verdict == "unstable"


def test_a_box_that_touches_the_edge_is_undecided() -> None:
    box = [Range("loop", "gain", 0.5, 1.0), Range("loop", "delay", 20, math.pi / 0.06)]
    assert box_verdict(EDGE, box, most=20).verdict == "undecided"


@given(st.data())
@settings(max_examples=few(10), deadline=None)
def test_no_value_of_a_stable_box_is_unstable(data: st.DataObject) -> None:
    numerator, damping = data.draw(st.floats(0.05, 2)), data.draw(st.floats(0.05, 2))
    low, width = data.draw(st.floats(0.1, 2)), data.draw(st.floats(0, 1))
    net = loop([numerator], [1, damping, 1], low)
    box = [Range("loop", "denominator", damping, damping * 1.5, 1), Range("loop", "delay", low, low + width)]
    box.append(Range("loop", "numerator", 0.8 * numerator, numerator))
    result = box_verdict(net, box, most=12)
    if result.verdict in ("stable", "unstable"):
        shares = [data.draw(st.floats(0, 1)) for _ in box]
        point = [
            Range(r.block, r.what, *(2 * (r.low + t * (r.high - r.low),)), r.index)
            for r, t in zip(box, shares, strict=True)
        ]
        assert verdict(at_middle(net, point), confirm=False).verdict in (result.verdict, "marginal", "undecided")


def test_ranges_of_nothing_are_refused() -> None:
    with pytest.raises(UsageError):
        box_verdict(EDGE, [Range("other", "gain", 0, 1)])
    with pytest.raises(UsageError):
        box_verdict(EDGE, [Range("loop", "denominator", 1, 2)])


# maps


def test_the_map_of_the_integrator_is_its_hyperbola() -> None:
    gains, delays = np.linspace(0.01, 1, 100), np.linspace(0, 20, 101)
    made = stability_map([1], [1, 0], gains, delays)
    assert np.array_equal(made.stable, np.outer(gains, delays) < math.pi / 2)


def test_the_map_says_where_feedthrough_is_too_large() -> None:
    made = stability_map([1, 1], [1, 2], [0.5, 2.0], [0.0, 1.0])
    assert made.unstable.tolist() == [[0, 0], [0, INFINITE]]


def test_the_map_does_not_decide_on_its_edges() -> None:
    assert stability_map([1], [1, 0], [math.pi / 2], [1.0]).undecided.all()
