"""Tells the indices over the last hour, or day for waves, from the figures of blocks, each with its interval.

The interval is that of the jackknife over blocks; those of DI and CI are widened by what the twin may be wrong by, as
measured (ADR 322), in proportion to the share of requests that wait: DOUBT of log gamma, and of the share in time
HALF of those that are late, at most FEW of all.  They are those of `fit` with means and rates instead of requests:
DI and CI by the coordinated twin, HCL by sums, WPI by what requests in bursts wait beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coherence.causal.answers.intervals import Estimate, estimate
from coherence.causal.data.series import Floats
from coherence.watching.blocks import log_gamma

HOUR, DAYS_BLOCKS = 12, 288  # blocks
FLOOR, GATE = 0.1, 0.1  # of WPI: definitions 2.4
DOUBT, HALF, FEW, LEVEL = 0.1, 0.5, 0.05, 0.95
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
    waits: float = 0.0  # share of requests that wait in the twin that is as fast


@dataclass(frozen=True)
class RollingIndex:
    """An index of the last hour; `bound` is ">=" or "<=" where only that much is known."""

    estimate: Estimate
    bound: str = ""


def delay_index(blocks: Sequence[BlockRecord]) -> RollingIndex | None:
    """DI of the mean of log gamma."""
    known = [block for block in blocks if math.isfinite(block.slowdown)]
    if len(known) < 2:
        return None
    logs = np.array([block.slowdown for block in known])
    raw = _widened(estimate(float(logs.mean()), _without(logs) / (len(logs) - 1)), known)
    ends = [math.expm1(min(x, 700.0)) for x in (raw.value, raw.low, raw.high)]
    return RollingIndex(Estimate(ends[0], ends[1], ends[2], (1 + ends[0]) * raw.error, raw.level))


def _widened(raw: Estimate, blocks: Sequence[BlockRecord]) -> Estimate:
    """Returns an estimate of log gamma, or of its negative, with the doubt of its twin."""
    doubt = DOUBT * _waits(blocks)
    return replace(raw, low=raw.low - doubt, high=raw.high + doubt)


def _late(requests: float, share: float, doubt: float) -> tuple[float, float]:
    """Returns between what the share of late requests lies: Poisson's interval of their number, and the doubt."""
    from scipy.special import gammaincinv

    late = max((1 - share) * requests, 0.0)
    fewest = float(gammaincinv(late, (1 - LEVEL) / 2)) if late > 0 else 0.0
    return fewest / requests - doubt, float(gammaincinv(late + 1, (1 + LEVEL) / 2)) / requests + doubt


def _waits(blocks: Sequence[BlockRecord]) -> float:
    return float(np.mean([block.waits for block in blocks]))


def coherence_index(blocks: Sequence[BlockRecord], seconds: float) -> RollingIndex | None:
    """CI of the requests in time; a lower bound where all were, an upper one where none was."""
    known = [block for block in blocks if block.twins and math.isfinite(block.in_time)]
    if len(known) < 2:
        return None
    offered, seen = np.array([b.offered for b in known]), np.array([b.in_time for b in known])
    twins = np.array([b.twins for b in known])
    requests = max(float(offered.sum()) * seconds, 1.0)
    least, share = 0.5 / requests, float(seen.sum() / offered.sum())
    rising = -twins.sum(axis=0) / offered.sum()
    rest = _without(offered)
    logs = [-log_gamma(-s / w, -t / w) for w, s, t in zip(rest, _without(seen), _without(twins), strict=True)]
    fewest, most = _late(requests, share, min(HALF * (1 - share), FEW) * _waits(known))
    low, whole, high = (-log_gamma(-min(max(x, least), 1 - least), rising) for x in (1 - most, share, 1 - fewest))
    raw = _widened(estimate(whole, np.array(logs)), known)
    ends = [math.exp(max(raw.low + low - whole, -700.0)), math.exp(min(raw.high + high - whole, 700.0))]
    if share > 1 - least:
        return RollingIndex(Estimate(ends[0], ends[0], math.inf, math.inf, raw.level), ">=")
    if share < least:
        return RollingIndex(Estimate(ends[1], 0.0, ends[1], math.inf, raw.level), "<=")
    return RollingIndex(Estimate(math.exp(whole), ends[0], ends[1], math.exp(whole) * raw.error, raw.level))


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
