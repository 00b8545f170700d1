"""Tells the indices over the last hour, or day for waves, from the figures of blocks, each with its interval.

The interval is that of the jackknife over blocks.  They are those of `fit` with means and rates instead of requests:
DI and CI by the coordinated twin, HCL by sums, WPI by what requests in bursts wait beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coherence.causal.answers.intervals import Estimate, estimate
from coherence.causal.data.series import Floats
from coherence.watching.blocks import log_gamma

HOUR, DAYS_BLOCKS = 12, 288  # blocks
FLOOR, GATE = 0.1, 0.1  # of WPI: definitions 2.4
Waves = tuple[float, float, float, float, float, float]  # requests and their excess (s): quiet, own burst, another's


@dataclass(frozen=True)
class BlockRecord:
    """What is kept of a block of one workload; nan of what was not measured.  `twins` of the last hour alone."""

    time: float
    rate: float
    p99: float
    slowdown: float
    useful: float
    held: float
    offered: float
    in_time: float
    waves: Waves
    twins: tuple[float, ...] = ()


@dataclass(frozen=True)
class RollingIndex:
    """An index of the last hour; `bound` is ">=" where only that much is known."""

    estimate: Estimate
    bound: str = ""


def delay_index(blocks: Sequence[BlockRecord]) -> RollingIndex | None:
    """DI of the mean of log gamma."""
    logs = np.array([block.slowdown for block in blocks if math.isfinite(block.slowdown)])
    if len(logs) < 2:
        return None
    raw = estimate(float(logs.mean()), _without(logs) / (len(logs) - 1))
    ends = [math.expm1(min(x, 700.0)) for x in (raw.value, raw.low, raw.high)]
    return RollingIndex(Estimate(ends[0], ends[1], ends[2], (1 + ends[0]) * raw.error, raw.level))


def coherence_index(blocks: Sequence[BlockRecord], seconds: float) -> RollingIndex | None:
    """CI of the requests in time; a lower bound where all were."""
    known = [block for block in blocks if block.twins and math.isfinite(block.in_time)]
    if len(known) < 2:
        return None
    offered, seen = np.array([b.offered for b in known]), np.array([b.in_time for b in known])
    twins = np.array([b.twins for b in known])
    requests = offered.sum() * seconds
    bound = ">=" if offered.sum() - seen.sum() < 0.5 / seconds else ""
    share = min(seen.sum() / offered.sum(), 1 - 0.5 / max(requests, 1.0))
    whole = -log_gamma(-share, -twins.sum(axis=0) / offered.sum())
    rest = _without(offered)
    logs = [-log_gamma(-s / w, -t / w) for w, s, t in zip(rest, _without(seen), _without(twins), strict=True)]
    raw = estimate(whole, np.array(logs))
    if bound:
        return RollingIndex(Estimate(math.exp(whole), math.exp(whole), math.inf, math.inf, raw.level), bound)
    low, high = math.exp(max(raw.low, -700.0)), math.exp(min(raw.high, 700.0))
    return RollingIndex(Estimate(math.exp(whole), low, high, math.exp(whole) * raw.error, raw.level))


def hidden_loss(blocks: Sequence[BlockRecord]) -> RollingIndex | None:
    """HCL of the sums of useful and held device-seconds."""
    known = [block for block in blocks if math.isfinite(block.useful) and block.held > 0]
    if len(known) < 2:
        return None
    useful, held = np.array([b.useful for b in known]), np.array([b.held for b in known])
    raw = estimate(float(1 - useful.sum() / held.sum()), 1 - _without(useful) / _without(held))
    low, high = max(raw.low, 0.0), min(raw.high, 1.0)
    return RollingIndex(Estimate(raw.value, low, high, raw.error, raw.level))


def wave_index(blocks: Sequence[BlockRecord], delay: RollingIndex | None, need: float) -> RollingIndex | None:
    """WPI of the last day: excess of the others in bursts over that of the service whose burst it is."""
    sums = np.array([block.waves for block in blocks]).reshape(-1, 6)
    if delay is None or len(sums) < 2 or not (sums[:, 2].sum() > 0 and sums[:, 4].sum() > 0 and sums[:, 0].sum() > 0):
        return None
    if not delay.estimate.low > GATE:
        return RollingIndex(Estimate(0.0, 0.0, 0.0, 0.0))
    without = [_wave(row, need) for row in _without(sums)]
    raw = estimate(_wave(sums.sum(axis=0), need), np.array(without))
    return RollingIndex(Estimate(max(raw.value, 0.0), max(raw.low, 0.0), max(raw.high, 0.0), raw.error, raw.level))


def _wave(sums: Floats, need: float) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        quiet, own, other = (sums[k + 1] / sums[k] for k in (0, 2, 4))
    remote, local = other - quiet, own - quiet
    index = max(0.0, remote) / (max(0.0, local) + FLOOR * need)
    return float(index) if math.isfinite(index) else 0.0


def _without(column: Floats) -> Floats:
    """Returns the sums without each entry."""
    return np.asarray(column.sum(axis=0) - column, np.float64)
