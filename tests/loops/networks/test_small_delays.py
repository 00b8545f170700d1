"""What short delays do to feedthrough: closed forms, a grid of phases, and the same networks with such delays."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.loops.networks.small_delays import FeedthroughGain, feedthrough_gain, small_delays, warning


def static(rows: list[list[float]], delays: tuple[float, ...] = ()) -> Network:
    """Returns blocks of gain one that feed each other, beside a lag that one of them drives."""
    names = [f"x{k}" for k in range(len(rows))]
    late = delays or (0.0,) * len(rows)
    blocks = [Block(name, (1.0,), (1.0,), delay) for name, delay in zip(names, late, strict=True)]
    couplings = [Coupling(names[j], names[i], gain) for i, row in enumerate(rows) for j, gain in enumerate(row)]
    return network([*blocks, Block("lag", (1.0,), (1.0, 1.0))], [*couplings, Coupling("x0", "lag")])


@pytest.mark.parametrize(
    ("gain", "delay", "stable"), [(2, 0, False), (-2, 0, False), (0.9, 0, True), (-0.9, 0, True), (2, 1e-6, False)]
)
def test_one_loop_bears_short_delays_below_a_gain_of_one(gain: float, delay: float, stable: bool) -> None:
    late = small_delays(static([[gain]], (delay,)))
    assert late.stable is stable
    assert late.low == pytest.approx(abs(gain))
    assert late.high == pytest.approx(abs(gain))


def test_delays_that_differ_may_do_what_equal_ones_cannot() -> None:
    """[[g, -g], [g, -g]] is nilpotent, so delays of like length die out; with opposite phases its gain is 2 g."""
    gain = 0.6
    late = small_delays(static([[gain, -gain], [gain, -gain]]))
    assert late.stable is False
    assert late.low == pytest.approx(2 * gain)
    assert late.alike < 1e-6
    assert verdict(static([[gain, -gain], [gain, -gain]])).verdict == "stable"
    assert verdict(static([[gain, -gain], [gain, -gain]], (2e-3, 1e-3))).verdict == "unstable"
    assert "some delays there, however short, are unstable" in warning(late)
    assert small_delays(static([[0.49, -0.49], [0.49, -0.49]])).stable


def test_what_is_at_once_and_what_is_late_add_up() -> None:
    """y = -0.6 y + 0.5 y(t - 1) is stable, 0.5 / 1.6; a short delay of the first term makes it 0.6 + 0.5 > 1."""
    blocks = [Block("sum", (1.0,), (1.0,)), Block("now", (-0.6,), (1.0,)), Block("late", (0.5,), (1.0,), 1.0)]
    couplings = [Coupling("sum", "now"), Coupling("sum", "late"), Coupling("now", "sum"), Coupling("late", "sum")]
    late = small_delays(network(blocks, couplings))
    assert verdict(network(blocks, couplings)).verdict == "stable"
    assert late.stable is False
    short = [Block("now", (-0.6,), (1.0,), 2**-7) if block.name == "now" else block for block in blocks]
    assert verdict(network(short, couplings)).verdict == "unstable"


@pytest.mark.parametrize("seed", range(12))
def test_no_phases_of_a_grid_exceed_the_bound_and_some_reach_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 4))
    around = rng.normal(size=(size, size)) * 0.7
    gain = feedthrough_gain(tuple(map(str, range(size))), around)
    turn = np.exp(2j * np.pi * np.arange(48) / 48)
    phases = [(1.0, *rest) for rest in itertools.product(turn, repeat=size - 1)]
    radii = [np.abs(np.linalg.eigvals(np.array(phase)[:, None] * around)).max() for phase in phases]
    assert max(radii) <= gain.low * (1 + 1e-9)
    assert gain.low <= gain.high
    assert gain.high <= gain.low * (1 + 1e-4)  # equal for up to three blocks: the bound is the structured value
    assert gain.low <= max(radii) * 1.02


@pytest.mark.parametrize("seed", range(4))
def test_the_phases_are_delays_that_the_verdict_calls_unstable(seed: int) -> None:
    """With short delays on a grid it grows only where the gain exceeds one."""
    rng = np.random.default_rng(100 + seed)
    rows = (rng.normal(size=(2, 2)) * 0.6).tolist()
    late = small_delays(static(rows))
    kinds = {verdict(static(rows, (a * 2e-4, b * 2e-4))).verdict for a in range(1, 6) for b in range(1, 6)}
    if late.stable:
        assert kinds == {"stable"}
    elif late.low > 1.1:
        assert "unstable" in kinds


def test_a_chain_without_a_circle_has_no_gain() -> None:
    late = small_delays(static([[0, 0, 0], [50, 0, 0], [50, 50, 0]]))
    assert late == FeedthroughGain()
    assert late.stable
    assert not warning(late)
