"""Computes amplification along a path through a network with feedback: at every tier, and per hop."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from coherence.base.errors import UsageError, did_you_mean
from coherence.loops.margins.peaks import amplification
from coherence.loops.networks.network import Network
from coherence.loops.networks.stability import Judge, stability
from coherence.loops.waves.chains import StringVerdict


@dataclass(frozen=True)
class TierGain:
    """From the input of the path's first block to the output of `tier`: largest gain at `frequency` (rad/s).

    `bound` is never exceeded; `ratio`: over the gain of the tier before (of the first tier: the gain itself).
    """

    tier: str
    gain: float
    frequency: float
    bound: float
    ratio: float


@dataclass(frozen=True)
class NetworkPath:
    """The tiers in order and the verdict: stable if no tier can exceed the one before it at its worst frequency."""

    verdict: StringVerdict
    tiers: tuple[TierGain, ...]


def along(network: Network, path: Sequence[str], *, tolerance: float = 1e-8, judge: Judge = stability) -> NetworkPath:
    """Returns what a disturbance at the input of the first block does at every block of the path, feedback included.

    No tiers where the closed loop is not proved stable.  Raises UsageError for unknown blocks.
    """
    unknown = [name for name in path if name not in network.index]
    if unknown or not path:
        hints = "; ".join(f"'{name}' is no block: {did_you_mean(name, network.names)}" for name in unknown)
        raise UsageError(hints or "an empty path: name its blocks in order")
    tiers: list[TierGain] = []
    for name in path:
        answer = amplification(network, inputs=[path[0]], outputs=[name], tolerance=tolerance, judge=judge)
        if answer.peak is None:
            return NetworkPath(
                StringVerdict(answer.stability.verdict, f"the closed loop: {answer.stability.reason}"), ()
            )
        before = tiers[-1].gain if tiers else 1.0
        ratio = answer.peak.value / before if before else float("inf")
        tiers.append(TierGain(name, answer.peak.value, answer.peak.frequency, answer.peak.bound, ratio))
    return NetworkPath(_judged(tiers, tolerance), tuple(tiers))


def _judged(tiers: Sequence[TierGain], tolerance: float) -> StringVerdict:
    pairs = list(itertools.pairwise(tiers))
    growing = [b.tier for a, b in pairs if b.gain > a.bound * (1 + tolerance)]
    if growing:
        return StringVerdict("unstable", f"the largest gain grows on the way to {', '.join(growing)}")
    unclear = [b.tier for a, b in pairs if b.bound > a.gain * (1 + 1e-6)]
    if unclear:
        return StringVerdict("undecided", f"bounds of the gains at {', '.join(unclear)} overlap")
    return StringVerdict("stable", "the largest gain does not grow along the path (to one part in a million)")
