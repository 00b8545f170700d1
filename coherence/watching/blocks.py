"""Sums the scrapes of a block up to figures: log(1 + DI) and HCL.

Each figure has the standard error of a jackknife over the scrapes of the block.  Both grow as coordination is lost, and
neither grows with load alone: that is what the twin is for.  The same of the 99th percentile does: as a test it raised
three false alarms in two simulated weeks, so that percentiles enter the margin of the deadline alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from coherence.causal.data.series import Floats
from coherence.watching.signals import WatchedWorkload, positive
from coherence.watching.twin_grid import ALIKE, GAMMAS, LOG_GAMMAS, TwinQueue

Values = Mapping[str, float]
DI, HCL = "DI", "HCL"
RATE, LATENCY, P99, SHARE, USEFUL, HELD = range(6)


@dataclass(frozen=True)
class BlockFigure:
    """A figure of one block with its standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class InTime:
    """Requests per second, those answered in time, and those that the twin of each gamma answers in time."""

    rate: float
    seen: float
    twins: Floats


@dataclass
class WorkloadBlock:
    """The scrapes of one workload since the last block, and the requests that its twins hold."""

    load: WatchedWorkload
    present: Floats = field(default_factory=lambda: np.zeros(len(GAMMAS)))
    rows: list[tuple[float, ...]] = field(default_factory=list)
    twins: list[tuple[Floats, Floats]] = field(default_factory=list)  # sojourn, share in time
    waiting: list[float] = field(default_factory=list)  # P(an arrival waits) of the twin that is as fast

    def take(self, values: Values, seconds: float) -> float:
        """Adds one scrape and returns the measured mean delay above that of the twin (s); without a rate, a need or
        servers there are no twins.
        """
        rate, need = self._of(values, "rate"), self._of(values, "service") or self.load.need
        latency, top = self._of(values, "latency"), self._of(values, "p99")
        share, done, held = self._of(values, "in_time"), self._of(values, "done"), self._of(values, "held")
        useful = done * need if done is not None and need is not None else None
        self.rows.append(tuple(math.nan if x is None else x for x in (rate, latency, top, share, useful, held)))
        empty = np.full(len(GAMMAS), math.nan)
        if rate is None or not need or self.load.servers is None:
            self.twins.append((empty, empty))
            self.waiting.append(math.nan)
            return math.nan
        queue = TwinQueue(self.load.servers, self.load.cv)
        self.present, step = queue.advanced(self.present, rate, need, seconds)
        in_time = queue.in_time(step, self.load.deadline) if self.load.deadline is not None else empty
        self.twins.append((step.sojourn, in_time))
        self.waiting.append(float(step.waits[ALIKE]))
        return latency - float(np.interp(0.0, LOG_GAMMAS, step.sojourn)) if latency is not None else math.nan

    def _of(self, values: Values, quantity: str) -> float | None:
        return positive(values.get(self.load.signal(quantity)))

    def column(self, number: int) -> Floats:
        """Returns one measured quantity of the scrapes of the block."""
        return np.array([row[number] for row in self.rows], np.float64)

    def _twins(self, number: int) -> Floats:
        return np.array([twin[number] for twin in self.twins]).reshape(-1, len(GAMMAS))

    def figures(self) -> dict[str, BlockFigure]:
        """Returns the figures of the block that its scrapes give."""
        figures = {
            DI: _slowdown(self.column(RATE), self.column(LATENCY), self._twins(0)),
            HCL: _hidden(self.column(USEFUL), self.column(HELD)),
        }
        return {name: figure for name, figure in figures.items() if figure is not None}

    def in_time(self) -> InTime | None:
        """Returns the sums that CI is inverted from; None where they are not measured."""
        rate, share, twins = self.column(RATE), np.minimum(self.column(SHARE), 1.0), self._twins(1)
        known = usable(rate, share, twins)
        if known is None or not rate[known].sum() > 0:
            return None
        weight = rate[known]
        return InTime(
            float(weight.sum()), float((weight * share[known]).sum()), (weight[:, None] * twins[known]).sum(axis=0)
        )

    def mean(self, number: int) -> float:
        """Returns the mean of a measured quantity over the block."""
        column = self.column(number)
        known = column[np.isfinite(column)]
        return float(known.mean()) if len(known) else math.nan

    def waits(self) -> float:
        """Returns the share of requests that wait in the twin that is as fast; 0 where there is none."""
        rate, waiting = self.column(RATE), np.array(self.waiting, np.float64)
        known = np.isfinite(rate) & np.isfinite(waiting) & (rate > 0)
        return float(np.average(waiting[known], weights=rate[known])) if known.any() else 0.0

    def clear(self) -> None:
        """Begins the next block; the twins go on."""
        self.rows.clear()
        self.twins.clear()
        self.waiting.clear()


def usable(*columns: Floats) -> Floats | None:
    """Returns which scrapes have all these; None where they are fewer than half."""
    known = np.logical_and.reduce([np.isfinite(c if c.ndim == 1 else c[:, 0]) for c in columns])
    return known if len(known) and known.sum() >= max(2, len(known) / 2) else None


def _slowdown(rate: Floats, latency: Floats, sojourn: Floats) -> BlockFigure | None:
    """log gamma of the twin whose mean sojourn is the measured one; the slowest where requests are not answered."""
    silent = (rate > 0) & np.isnan(latency)
    if silent.sum() > len(silent) / 2:
        return BlockFigure(float(LOG_GAMMAS[-1]), 0.0)
    known = usable(rate, latency, sojourn)
    return _inverted(rate[known], latency[known], sojourn[known]) if known is not None else None


def _inverted(weight: Floats, seen: Floats, twins: Floats) -> BlockFigure | None:
    """log gamma at which the weighted mean of the twins is that of what was seen, with its jackknife error."""
    if not weight.sum() > 0:
        return None
    heard, rising = weight * seen, weight[:, None] * twins
    whole = log_gamma(heard.sum() / weight.sum(), rising.sum(axis=0) / weight.sum())
    rest, left, after = weight.sum() - weight, heard.sum() - heard, rising.sum(axis=0) - rising
    without = [log_gamma(s / w, t / w) for w, s, t in zip(rest, left, after, strict=True) if w > 0]
    return BlockFigure(whole, _error(np.array(without)))


def log_gamma(wanted: float, rising: Floats) -> float:
    """Returns log gamma at which a function that grows with gamma has a value; an end of the grid beyond it."""
    return float(np.interp(wanted, np.maximum.accumulate(rising), LOG_GAMMAS))


def _hidden(useful: Floats, held: Floats) -> BlockFigure | None:
    known = usable(useful, held)
    if known is None or not held[known].sum() > 0:
        return None
    above, below = useful[known], held[known]
    rest = below.sum() - below
    without = 1 - (above.sum() - above)[rest > 0] / rest[rest > 0]
    return BlockFigure(float(1 - above.sum() / below.sum()), _error(without))


def _error(without: Floats) -> float:
    if len(without) < 2:
        return math.inf
    return math.sqrt((len(without) - 1) / len(without) * float(((without - without.mean()) ** 2).sum()))
