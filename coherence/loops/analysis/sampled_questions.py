"""Asks more of a sampled network: critical gain and delay, windows, peaks, amplification along a path, maps.

A factor scales what a sampler commands or a block puts out, an extra delay makes it land later.  Windows of a gain are
exact where the lap is rational and its characteristic polynomial is affine in the factor (one loop of one rate); all
others are looked for in steps, and the answer says how wide they are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from coherence.base.bisection import halved
from coherence.base.errors import UsageError
from coherence.base.number_text import render_seconds
from coherence.loops.analysis.delay_margins import delay_margin
from coherence.loops.analysis.network_answers import (
    Answer,
    MapRow,
    NetworkQuestion,
    of_critical,
    of_map,
    of_path,
    of_windows,
)
from coherence.loops.analysis.render_margins import render_at
from coherence.loops.analysis.render_network import finite
from coherence.loops.margins.sampled_amplification import amplified
from coherence.loops.margins.stability_windows import StabilityWindow, Windows
from coherence.loops.multirate.critical_gain import critical_gain, gain_polynomials, windows
from coherence.loops.multirate.lifting import lift
from coherence.loops.multirate.sampled_system import Multirate, checked, exactly, multirate
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.critical import NONE_SMALLER, smaller_factors
from coherence.loops.networks.network import Network
from coherence.loops.networks.stability import Stability
from coherence.loops.waves.network_gain import along_sampled

MOST_GAIN, LEAST_GAIN, GAIN_STEPS = 100.0, 0.01, 120  # of windows that are looked for in steps
LAPS, STEPS_A_PERIOD = 8, 8  # of delays that are looked through: how far, and how many in the shortest period
MAP_GAINS, MAP_STEPS_A_PERIOD = 17, 4  # an odd number of factors: one row is of the factor 1
CLOSE = 1e-9  # relative width of the bracket of an edge


def answered_sampled(net: Network | Multirate, question: NetworkQuestion) -> Answer:
    """Returns the answer to one question.  Raises UsageError where it cannot be given."""
    return SAMPLED[question.kind](net if isinstance(net, Multirate) else multirate(net), question)


def scaled_system(system: Multirate, names: Sequence[str], factor: float) -> Multirate:
    """Returns the system with what some samplers command, or blocks put out, times a factor."""
    exact = exactly(factor)
    samplers = (
        replace(s, numerator=tuple(exact * exactly(c) for c in s.numerator)) if s.name in names else s
        for s in system.samplers
    )
    blocks = (
        replace(b, numerator=tuple(factor * c for c in b.numerator)) if b.name in names else b for b in system.blocks
    )
    return checked(samplers, blocks, system.couplings)


def later_system(system: Multirate, names: Sequence[str], delay: Fraction) -> Multirate:
    """Returns the system in which what some samplers command lands later, and blocks wait longer."""
    shared = {s.writes or s.name for s in system.samplers if s.name in names}
    samplers = (
        replace(s, lands=exactly(s.lands) + delay) if (s.writes or s.name) in shared else s for s in system.samplers
    )
    blocks = (replace(b, delay=exactly(b.delay) + delay) if b.name in names else b for b in system.blocks)  # type: ignore[arg-type]
    return checked(samplers, blocks, system.couplings)


def _judged(system: Multirate) -> Stability:
    lap = floquet(system)
    return Stability(lap.verdict, lap.reason, lap.unstable)


def _critical_gain(system: Multirate, question: NetworkQuestion) -> Answer:
    def scaled(factor: float) -> Multirate:
        return scaled_system(system, question.blocks, factor)

    most = min(question.up_to or math.inf, 1e4)
    smaller = (min(1.0, most) * factor for factor in smaller_factors())
    low = next((factor for factor in smaller if _judged(scaled(factor)).verdict == "stable"), None)
    if low is None:
        raise UsageError(NONE_SMALLER)
    factor = critical_gain(scaled, low=low, high=most)
    at = factor if math.isfinite(factor) else None
    return of_critical(question, at, None, None, "found in even ratios")


def _critical_delay(system: Multirate, question: NetworkQuestion) -> Answer:
    def stable(delay: Fraction) -> bool:
        return _judged(later_system(system, question.blocks, delay)).verdict == "stable"

    if not stable(Fraction(0)):
        raise UsageError("the network is not stable as it is")
    margin = delay_margin(stable, _shortest(system))
    at = None if margin.unstable is None else float(margin.unstable)
    return of_critical(question, at, float(margin.stable), None, margin.note)


def _shortest(system: Multirate) -> Fraction:
    return min(exactly(sampler.period) for sampler in system.samplers)


def _gain_windows(system: Multirate, question: NetworkQuestion) -> Answer:
    if len(question.blocks) != 1:
        raise UsageError("windows are of one block: name it")
    most = question.up_to or MOST_GAIN
    exact = _exact_gain_windows(system, question.blocks, most)
    if exact is not None:
        return of_windows(question, exact)
    grid = [float(k) for k in np.geomspace(min(LEAST_GAIN, most / 10), most, GAIN_STEPS)]
    gap = f"windows narrower than {100 * (grid[1] / grid[0] - 1):.2g} % of their factor may be missing"
    return of_windows(question, _stepped(grid, lambda k: _judged(scaled_system(system, question.blocks, k)), gap))


def _exact_gain_windows(system: Multirate, names: Sequence[str], most: float) -> Windows | None:
    """Returns the windows by exact counts; None where the lap is no rational one, affine in the factor."""
    if not lift(system).exact:
        return None
    try:
        parts = windows(*gain_polynomials(lambda k: scaled_system(system, names, k)))
    except UsageError:
        return None
    rows = [
        StabilityWindow(w.low, min(w.high, most), Stability("stable" if w.stable else "unstable", "", None), None)
        for w in parts
        if w.low < most
    ]
    return Windows(tuple(rows))


def _stepped(grid: Sequence[float], verdict_at: Callable[[float], Stability], gap: str) -> Windows:
    """Returns the windows between the places of a grid at which the verdict changes."""
    known = [verdict_at(place) for place in grid]
    rows: list[StabilityWindow] = []
    start = grid[0]
    for (low, before), (high, after) in itertools.pairwise(zip(grid, known, strict=True)):
        if before.verdict != after.verdict:
            edge = _edge(low, high, before.verdict, verdict_at)
            rows += [StabilityWindow(start, edge, before, None)] if edge - start > 2 * CLOSE * edge else []
            start = edge
    return Windows((*rows, StabilityWindow(start, grid[-1], known[-1], None)), gap)


def _edge(low: float, high: float, verdict: str, verdict_at: Callable[[float], Stability]) -> float:
    ends = halved(
        lambda place: verdict_at(place).verdict == verdict, low, high, near=lambda a, b: abs(b - a) <= CLOSE * abs(b)
    )
    return sum(ends) / 2


def _delay_grid(system: Multirate, question: NetworkQuestion, a_period: int) -> tuple[list[float], str]:
    """Returns delays in steps of a part of the shortest period, and what they may miss."""
    step = _shortest(system) / a_period
    longest = exactly(question.up_to) if question.up_to else LAPS * system.period
    count = max(2, math.ceil(longest / step))
    gap = f"windows shorter than {render_seconds(float(step))} may be missing"
    return [float(k * longest / count) for k in range(count + 1)], gap


def _delay_windows(system: Multirate, question: NetworkQuestion) -> Answer:
    if len(question.blocks) != 1:
        raise UsageError("windows are of one block: name it")
    grid, gap = _delay_grid(system, question, STEPS_A_PERIOD)
    windows_found = _stepped(grid, lambda d: _judged(later_system(system, question.blocks, exactly(d))), gap)
    answer = of_windows(question, windows_found)
    return replace(answer, lines=("of extra delay", *answer.lines))


def _map(system: Multirate, question: NetworkQuestion) -> Answer:
    if len(question.blocks) != 1:
        raise UsageError("a map is of one block: name it")
    grid, gap = _delay_grid(system, question, MAP_STEPS_A_PERIOD)
    rows = []
    for factor in map(float, np.geomspace(0.1, 10, MAP_GAINS)):
        changed = scaled_system(system, question.blocks, factor)
        by_delay = _stepped(grid, lambda d, of=changed: _judged(later_system(of, question.blocks, exactly(d))), gap)  # type: ignore[misc]
        rows.append(MapRow(factor, by_delay.stable, gap))
    return of_map(question, rows, grid[-1])


def _peak(system: Multirate, question: NetworkQuestion) -> Answer:
    if question.source is None or question.target is None:
        raise UsageError("the peak of a sampled network is from one sampled block to another: write --peak A:B")
    answer = amplified(system, question.source, _output(system, question.target))
    peak, blocks = answer.peak, (question.source, question.target)
    numbers = {
        "value": peak.value, "bound": finite(peak.bound), "frequency_rad_per_s": finite(peak.frequency),
        "certified": peak.certified, "from": question.source, "to": question.target,
        "variance_ratio": answer.variance_ratio,
    }  # fmt: skip
    line = f"{peak.value:.6g}{render_at(peak.frequency)}; variance of independent samples times "
    return Answer("peak", blocks, numbers, (f"{line}{answer.variance_ratio:.6g}",), open=not peak.certified)


def _output(system: Multirate, name: str) -> str:
    """Returns the name of what a block puts out: of one with a rate, its plant behind the hold."""
    plant = f"plant of {name}"
    return plant if any(block.name == plant for block in system.blocks) else name


def _along(system: Multirate, question: NetworkQuestion) -> Answer:
    return of_path(question, along_sampled(system, question.blocks, lambda name: _output(system, name)))


SAMPLED: Mapping[str, Callable[[Multirate, NetworkQuestion], Answer]] = {
    "critical gain": _critical_gain, "critical delay": _critical_delay, "gain windows": _gain_windows,
    "delay windows": _delay_windows, "peak": _peak, "along": _along, "map": _map,
}  # fmt: skip
