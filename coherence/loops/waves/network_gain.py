"""Computes amplification along a path through a network with feedback: at every tier, and per hop.

Of continuous blocks it is that from the input of the first block, of sampled ones from what is added to the first
one's reading; there the variance is told, too (bullwhip: orders over demand).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from coherence.base.errors import UsageError, did_you_mean
from coherence.loops.margins.peaks import amplification
from coherence.loops.margins.sampled_amplification import amplified
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.networks.network import Network
from coherence.loops.networks.stability import Judge, stability

CLEARLY = 1e-6  # relative: less growth is none


@dataclass(frozen=True)
class TierGain:
    """At `tier` the largest gain at `frequency` (rad/s), nowhere above `bound`.

    `ratio`: over the gain of the tier before (of the first tier: the gain itself).  `variance_ratio`: over that of
    independent samples, where they are sampled.
    """

    tier: str
    gain: float
    frequency: float
    bound: float
    ratio: float = 1.0
    variance_ratio: float | None = None


@dataclass(frozen=True)
class PathVerdict:
    """`verdict`: stable (no tier exceeds the one before it at its worst frequency), unstable or undecided, and why."""

    verdict: str
    reason: str


@dataclass(frozen=True)
class NetworkPath:
    """The tiers in order, and whether the largest gain grows along them."""

    verdict: PathVerdict
    tiers: tuple[TierGain, ...]


def along(network: Network, path: Sequence[str], *, tolerance: float = 1e-8, judge: Judge = stability) -> NetworkPath:
    """Returns what a disturbance at the input of the first block does at every block of the path, feedback included.

    No tiers where the closed loop is not proved stable.  Raises UsageError for unknown blocks.
    """
    _refuse_unknown(path, network.names)
    tiers: list[TierGain] = []
    for name in path:
        answer = amplification(network, inputs=[path[0]], outputs=[name], tolerance=tolerance, judge=judge)
        if answer.peak is None:
            return NetworkPath(PathVerdict(answer.stability.verdict, f"the closed loop: {answer.stability.reason}"), ())
        tiers.append(TierGain(name, answer.peak.value, answer.peak.frequency, answer.peak.bound))
    return _path(tiers)


def along_sampled(system: Multirate, path: Sequence[str], at: Callable[[str], str] = str) -> NetworkPath:
    """Returns what becomes of what is added to the reading of the first sampler at every sampler or block of the path.

    `at`: the name under which a tier is looked at.  Raises UsageError for unknown ones, and what is not stable.
    """
    _refuse_unknown(path, [*(s.name for s in system.samplers), *(b.name for b in system.blocks)])
    tiers = []
    for name in path:
        answer = amplified(system, path[0], at(name))
        peak = answer.peak
        tiers.append(TierGain(name, peak.value, peak.frequency, peak.bound, variance_ratio=answer.variance_ratio))
    return _path(tiers)


def _refuse_unknown(path: Sequence[str], names: Iterable[str]) -> None:
    unknown = [name for name in path if name not in names]
    if unknown or not path:
        hints = "; ".join(f"'{name}' is no block: {did_you_mean(name, tuple(names))}" for name in unknown)
        raise UsageError(hints or "an empty path: name its blocks in order")


def _path(tiers: Sequence[TierGain]) -> NetworkPath:
    before = [1.0, *(tier.gain for tier in tiers)]
    rows = [
        TierGain(t.tier, t.gain, t.frequency, t.bound, t.gain / b if b else float("inf"), t.variance_ratio)
        for t, b in zip(tiers, before, strict=False)
    ]
    return NetworkPath(_judged(tiers), tuple(rows))


def _judged(tiers: Sequence[TierGain]) -> PathVerdict:
    pairs = list(itertools.pairwise(tiers))
    growing = [b.tier for a, b in pairs if b.gain > a.bound * (1 + CLEARLY)]
    if growing:
        return PathVerdict("unstable", f"the largest gain grows on the way to {', '.join(growing)}")
    unclear = [b.tier for a, b in pairs if b.bound > a.gain * (1 + 100 * CLEARLY)]
    if unclear:
        return PathVerdict("undecided", f"bounds of the gains at {', '.join(unclear)} overlap")
    return PathVerdict("stable", "the largest gain does not grow along the path")
