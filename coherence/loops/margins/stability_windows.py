"""Stability windows: all intervals of one delay, or of one gain, in which a network is stable.

A root can reach the imaginary axis only where |L| = 1 (delay) or where L is real and negative (gain).
These frequencies do not depend on the delay or gain that is varied, so a finite list gives all ends of
windows; inside each window the number of unstable roots is constant and is verdict_at once, at its middle.

SOURCE: for one loop: Walton and Marshall, Direct method for TDS stability analysis, IEE Proceedings D 134 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.margins.network_margins import gain_crossings, open_loop, unit_crossings
from coherence.loops.margins.peaks_response import at, response
from coherence.loops.networks.network import Block, Network
from coherence.loops.networks.stability import Judge, Stability, stability

if TYPE_CHECKING:
    from coherence.loops.margins.peaks_response import ClosedLoopResponse

TOGETHER = 1e-9  # relative distance within which two ends are one (a pole of S on the axis blurs them)


@dataclass(frozen=True)
class StabilityWindow:
    """From `low` to `high`, ends excluded, the verdict is one; `frequency` in rad/s: of the roots at `high`."""

    low: float
    high: float
    stability: Stability
    frequency: float | None


@dataclass(frozen=True)
class Windows:
    """All windows of one parameter in increasing order; `gap` says what is not certain, or is empty."""

    windows: tuple[StabilityWindow, ...]
    gap: str = ""

    @property
    def stable(self) -> tuple[tuple[float, float], ...]:
        """Returns the intervals that are proven stable."""
        return tuple((w.low, w.high) for w in self.windows if w.stability.verdict == "stable")


def delay_windows(network: Network, block: str, longest: float, *, judge: Judge = stability) -> Windows:
    """Returns the windows of the delay of one block from 0 to `longest` seconds."""
    if not (longest > 0 and math.isfinite(longest)):
        raise UsageError(f"the longest delay is {longest:g} s: it must be > 0 and finite")
    of, own = _at(network, block), network.blocks[network.index[block]].delay
    unit = unit_crossings(of)
    ends: list[tuple[float, float]] = []
    for omega in (*unit.zeros, *unit.open):
        turn = 2 * math.pi / omega if omega else math.inf
        if math.isfinite(turn):
            first = (own + _lag(of, omega)) % turn
            ends += [(first + k * turn, omega) for k in range(int((longest - first) / turn) + 1) if first <= longest]
    return _windows(ends, longest, lambda x: judge(_changed(network, block, delay=x)), complete=unit.complete)


def gain_windows(
    network: Network, block: str, *, lowest: float = 0.01, highest: float = 100.0, judge: Judge = stability
) -> Windows:
    """Returns the windows of a factor on the gain of one block from `lowest` to `highest`."""
    if not 0 < lowest < highest < math.inf:
        raise UsageError(f"the factors are {lowest:g} to {highest:g}: 0 < lowest < highest is needed")
    of = _at(network, block)
    real, _ = gain_crossings(of, max(highest, 1 / lowest))
    ends = []
    for omega in (*real.zeros, *real.open):
        s = float(at(of, np.array([omega]))[0, 0, 0].real)
        if s != 1 and lowest < s / (s - 1) < highest:
            ends.append((s / (s - 1), omega))
    numerator = network.blocks[network.index[block]].numerator

    def verdict_at(factor: float) -> Stability:
        return judge(_changed(network, block, numerator=tuple(factor * c for c in numerator)))

    return _windows(ends, highest, verdict_at, complete=real.complete, low=lowest)


def _at(network: Network, block: str) -> ClosedLoopResponse:
    return response(network, outputs=[block], inputs=[block], sensitivity=True)


def _lag(of: ClosedLoopResponse, omega: float) -> float:
    """Returns the seconds of more delay that bring L(j omega) of modulus 1 to -1."""
    turned = complex(open_loop(at(of, np.array([omega]))[:, 0, 0])[0])
    return (math.atan2(turned.imag, turned.real) + math.pi) / omega


def _changed(network: Network, name: str, **changes: float | tuple[float, ...]) -> Network:
    def other(block: Block) -> Block:
        return replace(block, **changes) if block.name == name else block  # type: ignore[arg-type]

    return Network(tuple(other(block) for block in network.blocks), network.couplings)


def _windows(
    ends: list[tuple[float, float]],
    highest: float,
    verdict_at: Callable[[float], Stability],
    *,
    complete: bool,
    low: float = 0.0,
) -> Windows:
    inside = sorted(end for end in ends if low + 1e-12 * highest < end[0] < highest * (1 - 1e-12))
    edges: list[tuple[float, float | None]] = [(low, None)]
    for where, omega in inside:
        if where - edges[-1][0] > TOGETHER * where:
            edges.append((where, omega))
    edges.append((highest, None))
    windows = tuple(
        StabilityWindow(start, stop, verdict_at((start + stop) / 2), omega)
        for (start, _), (stop, omega) in pairwise(edges)
    )
    return Windows(windows, "" if complete else "the search met its work limit: windows may be missing")
