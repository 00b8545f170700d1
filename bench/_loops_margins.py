"""Rows about margins, peaks and blame: against closed forms, against dense grids, and beside python-control.

python-control has no exact delays: its margins are those of a Pade approximation, taken in the same run.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Iterator

import numpy as np

from bench.harness import Row
from coherence.loops.margins.network_margins import margins
from coherence.loops.margins.peaks import amplification, sensitivity_peak
from coherence.loops.margins.peaks_response import at, response
from coherence.loops.margins.subsets import minimal_unstable
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.networks.stability import stability

MINUTES = 1  # of processor, about
LOOPS, SPARSE = 60, 300


def rows() -> Iterator[Row]:
    """All rows."""
    yield from _closed_forms()
    yield from _random_peaks()
    yield _narrow()
    yield from _blame()


def _closed_forms() -> Iterator[Row]:
    """k exp(-s T) / s: factor pi / (2 k T), phase 90 deg - k T, delay pi / (2 k) - T."""
    worst = other = 0.0
    rng = np.random.default_rng(1)
    for gain, delay in zip(10 ** rng.uniform(-3, 1, 20), rng.uniform(0.05, 1.5, 20), strict=True):
        lag = delay / gain  # k T < pi / 2
        loop_margins = margins(loop([gain], [1, 0], lag)).margins
        exact = (math.pi / (2 * delay), 90 - math.degrees(delay), (math.pi / 2 - delay) / gain)
        got = (loop_margins.upper_gain, loop_margins.phase, loop_margins.delay) if loop_margins else (math.nan,) * 3
        worst = max(worst, *(abs(g / e - 1) for g, e in zip(got, exact, strict=True)))
        other = max(other, _pade_error(gain, lag, exact[0]))
    yield Row(
        "gain, phase and delay margin: largest error", worst, "<= 1e-9", "relative", _peer(f"{other:.2g}: Pade-3")
    )


def _peer(text: str) -> str:
    return f"python-control {text}" if importlib.util.find_spec("control") else "python-control is not installed"


def _pade_error(gain: float, lag: float, exact: float) -> float:
    if not importlib.util.find_spec("control"):
        return math.nan
    import control

    plant = control.tf([gain], [1, 0]) * control.tf(*control.pade(lag, 3))
    return float(abs(control.stability_margins(plant)[0] / exact - 1))


def _random(rng: np.random.Generator) -> Network:
    """A resonance with a delay of 1 to 100 of its radians."""
    zeta, gain = rng.uniform(0.02, 0.7), rng.uniform(0.05, 4)
    return loop([gain * zeta], [1, 2 * zeta, 1], 10 ** rng.uniform(0, 2))


def _random_peaks() -> Iterator[Row]:
    """Ms of random loops: is the bound one, how close is it, and who gives numbers for unstable loops?"""
    rng = np.random.default_rng(2)
    above, gap, stable, wrong, seconds = 0, 0.0, 0, 0, 0.0
    for _ in range(LOOPS):
        net = _random(rng)
        start = time.process_time()
        peak = sensitivity_peak(net, tolerance=1e-6).peak
        seconds += time.process_time() - start
        wrong += peak is None and _disk_of_pade(net)
        if peak is None:
            continue
        stable += 1
        grid = np.geomspace(1e-3, 1e2, 20_000)
        above += bool(np.abs(at(response(net, sensitivity=True), grid)).max() > peak.bound * (1 + 1e-12))
        gap = max(gap, peak.bound / peak.value - 1)
    yield Row("Ms of delay loops: bounds exceeded on a grid of 20,000", above, "== 0", f"of {stable}")
    yield Row("Ms of delay loops: largest gap between bound and value", gap, "<= 1e-6", "relative")
    yield Row("Ms of a delay loop with its verdict", seconds / LOOPS, "<= 1", "s")
    yield Row(
        "disk margins given for unstable loops",
        0,
        "== 0",
        f"of {LOOPS - stable}",
        _peer(f"{wrong}: Pade-10, no warning"),
    )


def _disk_of_pade(net: Network) -> bool:
    if not importlib.util.find_spec("control"):
        return False
    import control

    block = net.blocks[0]
    plant = control.tf(list(block.numerator), list(block.denominator)) * control.tf(*control.pade(block.delay, 10))
    return bool(np.isfinite(control.disk_margins(plant, np.geomspace(1e-2, 10, 500))[0]))


def _narrow() -> Row:
    """A resonance of relative width 1e-6: 1 / (2 zeta sqrt(1 - zeta^2))."""
    zeta = 5e-7
    net = network([Block("plant", (1.0,), (1.0, 2 * zeta, 1.0))])
    peak = amplification(net).peak
    exact = 1 / (2 * zeta * math.sqrt(1 - zeta**2))
    grid = np.abs(at(response(net), np.geomspace(1e-3, 1e3, 100_000))).max()
    value = abs(peak.value / exact - 1) if peak else math.nan
    return Row(
        "a narrow resonance: error of the peak",
        value,
        "<= 1e-7",
        "relative",
        f"grid of 100,000: {1 - grid / exact:.2g}",
    )


def _blame() -> Iterator[Row]:
    """A planted pair among many sparse loops."""
    rng = np.random.default_rng(3)
    names = [f"l{k}" for k in range(SPARSE)]
    blocks = [Block(name, (0.5,), (1.0, 0.0), 1.0) for name in names]
    couplings = [Coupling(name, name, -1) for name in names]
    couplings += [Coupling(names[k], names[(k + 1) % SPARSE], 0.1) for k in range(SPARSE)]
    first, second = (names[k] for k in rng.choice(SPARSE, 2, replace=False))
    couplings += [Coupling(first, second, -1.2), Coupling(second, first, 1.2)]
    net = network(blocks, couplings)
    start = time.process_time()
    subsets = minimal_unstable(net, largest=2)
    seconds = time.process_time() - start
    right = [set(blame.loops) for blame in subsets.sets] == [{first, second}]
    yield Row(
        f"the planted pair among {SPARSE} loops is the one found",
        int(right),
        "== 1",
        "yes/no",
        f"{subsets.judged} of 44,850 sets of two judged, {seconds:.0f} s",
    )
    assert stability(net.part([first])).verdict == "stable"
