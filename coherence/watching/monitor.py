"""Takes scrape after scrape of a system and tells what has changed: alerts that open and close, and rolling figures.

No wall time passes here: a scrape brings its own time, so that a run of simulated weeks and a server are one thing.
Tests: log(1 + DI) and HCL of every workload; the share of one period of every latency and of every other signal.
Together they raise one false alarm in `weeks` weeks at most, where healthy blocks are exchangeable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from coherence.causal.fitting.margin_drift import MarginDrift, margin_drift
from coherence.watching.blocks import DI, HCL, HELD, P99, RATE, USEFUL, Values, WorkloadBlock
from coherence.watching.oscillations import LENGTH, PeriodShare, period_share
from coherence.watching.rolling import DAYS_BLOCKS, HOUR, BlockRecord, Waves
from coherence.watching.sequential import Detector
from coherence.watching.signals import WatchedSystem, WatchedWorkload, positive

BLOCK = 20  # scrapes of a block: 5 min of 15 s
WEEK, DAY = 604_800.0, 86_400.0
DRIFT_BLOCKS = 72  # that a slope is fitted to: 6 h
BURST = 1.5  # times the usual rate
LARGEST = 1e30  # value that a signal can have: products of more are no floats
LONGEST_STEP = 300.0  # s that the twins go on in a gap


@dataclass(frozen=True)
class Alert:
    """Something that has changed: its kind, of what, since when (s since 1970), and a sentence."""

    kind: str
    of: str
    since: float
    message: str


@dataclass(frozen=True)
class AlertEvent:
    """An alert that opens, or closes."""

    time: float
    alert: Alert
    opens: bool


@dataclass
class WatchedBlocks:
    """What is known of one workload: the block that grows, those of the last day, and its drift."""

    block: WorkloadBlock
    records: list[BlockRecord] = field(default_factory=list)
    waves: list[float] = field(default_factory=lambda: [0.0] * 6)
    burst: float = 0.0  # when the last burst is no longer felt (s)
    begun: float = math.nan  # when the burst that lasts has begun
    usual: float = math.nan  # median rate of the last day
    drift: MarginDrift | None = None


@dataclass
class SystemMonitor:
    """All that a watch knows; `take` is its only verb."""

    system: WatchedSystem
    step: float
    weeks: float = 4.0
    last: float = math.nan
    scrapes: int = 0
    blocks: dict[str, WatchedBlocks] = field(default_factory=dict)
    signals: dict[str, list[float]] = field(default_factory=dict)
    periods: dict[str, PeriodShare] = field(default_factory=dict)
    detectors: dict[str, Detector] = field(default_factory=dict)
    alerts: dict[str, Alert] = field(default_factory=dict)
    opened: dict[str, int] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    hours: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # sum and count of each block of an hour

    def __post_init__(self) -> None:
        for load in self.system.workloads:
            self.blocks.setdefault(load.name, WatchedBlocks(WorkloadBlock(load)))

    @property
    def streams(self) -> int:
        """Returns how many tests run side by side."""
        return sum(len(_tested(load)) for load in self.system.workloads) + len(self._swinging())

    def _swinging(self) -> tuple[str, ...]:
        latencies = (load.signal("latency") for load in self.system.workloads if load.has("latency"))
        return (*self.system.others, *latencies)

    def take(self, time: float, values: Values) -> list[AlertEvent]:
        """Adds one scrape, later than the last, and returns the alerts that open or close with it."""
        if time <= self.last:
            return []
        values = {name: value for name, value in values.items() if abs(value) <= LARGEST}
        events = list(self._closed(time)) if math.isfinite(self.last) else []
        seconds = min(time - self.last, LONGEST_STEP) if math.isfinite(self.last) else self.step
        excess = {name: own.block.take(values, seconds) for name, own in self.blocks.items()}
        self._add_waves(time, excess)
        for name in self._swinging():
            self.signals.setdefault(name, []).append(values.get(name, math.nan))
        self._add_hours(values)
        self.values, self.last, self.scrapes = dict(values), time, self.scrapes + 1
        return events

    def _closed(self, time: float) -> Iterator[AlertEvent]:
        """Closes the block and the stretch that the new scrape lies beyond."""
        if _number(time, self.step, BLOCK) != _number(self.last, self.step, BLOCK):
            for name, own in self.blocks.items():
                if len(own.block.rows) >= BLOCK / 2:
                    yield from self._block_events(name, own, self.last)
                own.block.clear()
        if _number(time, self.step, LENGTH) != _number(self.last, self.step, LENGTH):
            for name, column in self.signals.items():
                if len(column) >= LENGTH / 2:
                    yield from self._swing_events(name, column, self.last)
            self.signals.clear()

    def _add_hours(self, values: Values) -> None:
        """Sums up the measured numbers of the design over the last hour."""
        for name in self.system.queries:
            value = positive(values.get(name))
            parts = self.hours.setdefault(name, [(0.0, 0.0)])
            if value is not None:
                parts[-1] = (parts[-1][0] + value, parts[-1][1] + 1)
            if self.scrapes % BLOCK == BLOCK - 1:
                self.hours[name] = [*parts[1 - HOUR :], (0.0, 0.0)]

    def hour_mean(self, name: str) -> float | None:
        """Returns the mean of a signal over the last hour; None before half of it was measured."""
        total, count = np.sum(self.hours.get(name, [(0.0, 0.0)]), axis=0)
        return float(total / count) if count >= BLOCK * HOUR / 2 else None

    # -- blocks -------------------------------------------------------------------------------------------

    def _block_events(self, name: str, own: WatchedBlocks, time: float) -> Iterator[AlertEvent]:
        figures = own.block.figures()
        own.records.append(_record(own, figures[DI].value if DI in figures else math.nan, time))
        own.waves = [0.0] * 6
        _drop_old(own.records)
        own.usual = float(np.nanmedian([record.rate for record in own.records[-DAYS_BLOCKS:]] or [math.nan]))
        own.drift = _drift(own)
        for figure in _tested(own.block.load):
            if figure in figures:
                value = figures[figure]
                length = self.step * BLOCK
                yield from self._tested(f"{figure} {name}", (value.value, value.error), length, time)
        yield from self._drift_events(name, own, time)

    def _tested(self, key: str, pair: tuple[float, float], length: float, time: float) -> Iterator[AlertEvent]:
        threshold = self.weeks * WEEK / length * self.streams
        before = self.detectors.get(key, Detector(threshold, math.ceil(DAY / length)))
        after = replace(before, threshold=threshold).after(*pair)
        self.detectors[key] = after
        if after.active != before.active:
            yield self._turn(key, time, _message(key, pair[0], before), opens=after.active)

    def _drift_events(self, name: str, own: WatchedBlocks, time: float) -> Iterator[AlertEvent]:
        key, drift = f"drift {name}", own.drift
        detector = self.detectors.get(f"{DI} {name}")
        suspected = detector is not None and detector.active
        if drift is not None and suspected and key not in self.alerts and drift.shrinks and drift.breach[0] <= DAY:
            soon, early, late = (seconds / 3600 for seconds in drift.breach)
            words = f"the 99th percentile of {name} reaches its deadline in {soon:.1f} h [{early:.1f}, {late:.1f}]"
            yield self._turn(key, time, words, opens=True)
        elif key in self.alerts and not suspected:
            yield self._turn(key, time, "", opens=False)

    def _swing_events(self, name: str, column: list[float], time: float) -> Iterator[AlertEvent]:
        share = period_share(np.array(column), self.step)
        self.periods[name] = share
        yield from self._tested(f"oscillation {name}", (share.share, 0.0), self.step * LENGTH, time)

    def turn(self, key: str, time: float, message: str, *, opens: bool) -> AlertEvent | None:
        """Opens or closes an alert that another reading of the system raises; None where it stands so already."""
        return self._turn(key, time, message, opens=opens) if opens != (key in self.alerts) else None

    def _turn(self, key: str, time: float, message: str, *, opens: bool) -> AlertEvent:
        kind, _, subject = key.rpartition(" ")
        if opens:
            self.alerts[key] = Alert(kind, subject, time, message)
            self.opened[kind] = self.opened.get(kind, 0) + 1
            return AlertEvent(time, self.alerts[key], opens=True)
        return AlertEvent(time, self.alerts.pop(key), opens=False)

    # -- waves --------------------------------------------------------------------------------------------

    def _add_waves(self, time: float, excess: Mapping[str, float]) -> None:
        """Adds the requests of a scrape to those of quiet times, of a burst of their own, or of another's."""
        for own in self.blocks.values():
            _follow_burst(own, time)
        bursts = {name for name, own in self.blocks.items() if time < own.burst}
        for name, own in self.blocks.items():
            rate = own.block.rows[-1][RATE]
            if not (math.isfinite(excess[name]) and rate > 0):
                continue
            place = 2 if name in bursts else 4 if bursts else 0
            own.waves[place] += rate
            own.waves[place + 1] += rate * excess[name]


def _follow_burst(own: WatchedBlocks, time: float) -> None:
    rate = own.block.rows[-1][RATE]
    if len(own.records) >= HOUR and rate > BURST * own.usual:
        own.begun = time if not time < own.burst else own.begun
        own.burst = time + max(time - own.begun, 0.0) + 1e-9


def _drop_old(records: list[BlockRecord]) -> None:
    """Keeps the records of a day, and the twins of the last hour."""
    del records[:-DAYS_BLOCKS]
    if len(records) > HOUR:
        records[-HOUR - 1] = replace(records[-HOUR - 1], twins=())


def _number(time: float, step: float, count: int) -> int:
    """Returns the number of the block that a scrape belongs to; a scrape stands at the end of its step."""
    return math.floor((time / step - 0.5) / count)


def _tested(load: WatchedWorkload) -> tuple[str, ...]:
    chosen = {DI: ("rate", "latency"), HCL: ("done", "held")}
    return tuple(figure for figure, quantities in chosen.items() if load.has(*quantities))


def _record(own: WatchedBlocks, slowdown: float, time: float) -> BlockRecord:
    block, in_time = own.block, own.block.in_time()
    pairs = np.isfinite(block.column(USEFUL)) & np.isfinite(block.column(HELD))
    useful, held = (float(block.column(k)[pairs].sum()) if pairs.any() else math.nan for k in (USEFUL, HELD))
    waves: Waves = tuple(own.waves)  # type: ignore[assignment]
    return BlockRecord(
        time, block.mean(RATE), block.mean(P99), slowdown, useful, held,
        in_time.rate if in_time else math.nan, in_time.seen if in_time else math.nan, waves,
        tuple(in_time.twins.tolist()) if in_time else (), block.waits(),
    )  # fmt: skip


def _drift(own: WatchedBlocks) -> MarginDrift | None:
    deadline = own.block.load.deadline
    if deadline is None:
        return None
    rows = np.array([(r.time, deadline - r.p99, r.rate) for r in own.records[-DRIFT_BLOCKS:]]).reshape(-1, 3)
    whole, late = (margin_drift(*part.T) if len(part) else None for part in (rows, rows[-DRIFT_BLOCKS // 3 :]))
    return whole if late is None or late.shrinks else replace(whole, high=max(whole.high, late.high)) if whole else None


def _message(key: str, value: float, before: Detector) -> str:
    figure, _, name = key.rpartition(" ")
    usual = float(np.median(before.reference[:, 0])) if len(before.reference) else math.nan
    if figure == "oscillation":
        return f"{name}: one period holds {value:.0%} of its variation, usually {usual:.0%}"
    if figure == HCL:
        return f"{value:.1%} of the time that {name} holds devices gives no useful result, usually {usual:.1%}"
    slow = f"{math.exp(value):.2f} times as slow, usually {math.exp(usual):.2f}"
    return f"users of {name} wait as on a coordinated machine that is {slow}"
