"""HCL, hidden capacity loss: the share of the held device time that gave no useful result.

## Definition
`HCL = 1 - useful / held`: held device-seconds of all classes, useful = isolated need x devices of requests whose first
result came while it was still wanted.  Requests in flight at the end of the window are left out of both.
## Words
0.19: of the time that devices are held, 19 % is assembly, switching, launching, slowed or wasted work.
## Unit and range
1; [0, 1].  0: all held time is useful; 1: none is.  `HCL points`: the same lost time as a share of provisioned time.
## Invariances
Unit of time; unit of load; size of the fleet; load, where overhead is per request.  Idle time is not held.
## Nulls
A launch of 3 ms on needs of 100 ms gives 3/103 at every load.
## Falsifier
Useful time above held time: then needs are overstated, and no number is told.
## Source
Non-goodput share of occupied time; overall equipment effectiveness; definitions 2.5.
"""

from __future__ import annotations

import numpy as np

from coherence.causal.data.index_inputs import IndexInputs, missing_inputs
from coherence.causal.data.request_log import RequestLog
from coherence.causal.indices import Index, IndexPart, IndexRefusal, MeasuredIndex
from coherence.causal.twins.jackknife import batch_numbers, clipped_estimate, jackknife_estimate, ratio

INDEX = Index(
    name="HCL",
    words="the share of the held device time that gave no useful result",
    unit="1",
    range="[0, 1]; 0 is perfect",
    invariances="unit of time, unit of load, size of the fleet, load where overhead is per request",
    source="non-goodput share of occupied time; definitions 2.5",
)


def measure(facts: IndexInputs) -> MeasuredIndex | IndexRefusal:
    """The hidden capacity loss of all classes together."""
    lacks = missing_inputs(facts, columns=("held", "outcome"))
    if lacks:
        return IndexRefusal(INDEX, "hidden time is held time that is not useful", lacks)
    assert facts.log is not None
    log = facts.log.where(~np.isnan(facts.log.end))
    unknown = int(np.isnan(log.held).sum())
    if unknown or not len(log) or not log.held.sum() > 0:
        what = "held device-seconds of every request that ended"
        return IndexRefusal(INDEX, f"{unknown:,} of {len(log):,} ended requests do not say what they held", (what,))
    useful = np.where(log.completed, log.need * log.devices, 0.0)
    if useful.sum() > log.held.sum() * (1 + 1e-12):
        ratio_said = f"useful {useful.sum():.6g} device-seconds exceed the {log.held.sum():.6g} held"
        return IndexRefusal(INDEX, f"assumption violated: {ratio_said}", ("isolated needs again: they are overstated",))
    return _measured(facts, log, useful)


def _measured(
    facts: IndexInputs, log: RequestLog, useful: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> MeasuredIndex:
    batch = batch_numbers(log, facts.batches)
    shares = 1 - ratio(useful, log.held, batch)
    estimate = clipped_estimate(jackknife_estimate(shares, level=facts.level), 0.0, 1.0)
    notes = [f"{count:,} requests in flight are left out" for count in [_in_flight(facts)] if count]
    short = int((useful > log.held * (1 + 1e-9)).sum())
    notes += [f"{short:,} requests held less than their isolated need: their needs are overstated"] if short else []
    return MeasuredIndex(
        INDEX, estimate, render_value(estimate.value), parts=_points(facts, log, useful), notes=tuple(notes)
    )


def _in_flight(facts: IndexInputs) -> int:
    return facts.log.in_flight if facts.log is not None else 0


def _points(
    facts: IndexInputs, log: RequestLog, useful: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[IndexPart, ...]:
    """The lost time as a share of the provisioned device-seconds of the window."""
    if facts.provisioned is None:
        return ()
    batch = batch_numbers(log, facts.batches)
    count = len(np.unique(batch))
    whole = facts.provisioned * (log.until - log.since)
    sums = np.bincount(batch, log.held - useful)
    totals = (
        np.concatenate([[sums.sum() / whole], (sums.sum() - sums) / (whole * (1 - 1 / count))])
        if count > 1
        else sums / whole
    )
    return (IndexPart("HCL points of provisioned", jackknife_estimate(totals, level=facts.level)),)


def render_value(value: float) -> str:
    """The value in words."""
    return f"{value:.1%} of the time that devices are held gives no useful result"
