"""Runs a design several times: every quantity with its interval, and two designs compared on the same chances.

Runs differ in their seed alone and are independent, so the interval of a mean over them is Student's,
whatever the correlation inside a run; latencies are read from the requests of all runs together.  Two
designs are compared seed by seed: streams of chance are named after what they feed, so both meet the
same arrivals, and the interval is that of the difference.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from coherence.language.sentences import Promise
from coherence.simulate.study.readings import Key, Sample
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.setting import Setting

CONFIDENCE = 0.95


@dataclass(frozen=True)
class StudyReading:
    """Mean of a quantity over the runs, and the ends of its 95 % interval (None where there is none).

    `more_than`: the value is a lower bound, since requests have not been answered; `too_short`: no interval can be
    told, and with this option it could; `shortage`: how many times as much it takes; `least`, `most`: of the runs;
    `out_of`: the number of runs of which it is a share.
    """

    of: str
    what: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None
    more_than: bool = False
    too_short: str = ""
    shortage: float = 0.0
    least: float | None = None
    most: float | None = None
    out_of: int | None = None

    @property
    def key(self) -> Key:
        return self.of, self.what, self.unit


class PromiseVerdict(StrEnum):
    """What runs say of a promise."""

    BROKEN = "broken"
    HELD = "held"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class JudgedPromise:
    """A promise with what the runs say of it; `reading`: the figure that it is about, with its interval.

    `seed` and `seconds`: the run and the time of a breach.
    """

    promise: Promise
    verdict: PromiseVerdict
    message: str
    reading: StudyReading | None = None
    seed: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Study:
    """What was run, and what each run showed.  `notes` tell what holds for all of them.

    `stopped`: somebody ended it before the last run; `setting` has the seeds of the runs that were done.  `pooled`:
    latencies of all requests; `limit`: why a run ended before its time; `records`: what was kept of each run.
    """

    setting: Setting
    samples: tuple[Sample, ...]
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: bool = False
    promises: tuple[JudgedPromise, ...] = ()
    pooled: tuple[StudyReading, ...] = ()
    limit: str = ""
    records: tuple[RunRecord, ...] = ()

    @property
    def readings(self) -> tuple[StudyReading, ...]:
        """Every quantity that all runs have, in the order of the first; what is read from all requests in its place."""
        pooled = {reading.key: reading for reading in self.pooled}
        by_thing: dict[str, dict[Key, StudyReading]] = {}
        for key in (*_common(self.samples), *pooled):
            by_thing.setdefault(key[0], {})[key] = pooled.get(key) or _over_runs(key, self.samples)
        return tuple(reading for readings in by_thing.values() for reading in readings.values())


def _over_runs(key: Key, samples: Sequence[Sample]) -> StudyReading:
    values = [sample[key] for sample in samples]
    reading = _within(StudyReading(*key, *interval(values)), values)
    return replace(reading, least=min(values), most=max(values)) if len(values) > 1 else reading


SIGNED = ("mean", "least", "most", "last")  # of a signal, which may be below zero


def _within(reading: StudyReading, values: Sequence[float]) -> StudyReading:
    """Returns a reading whose interval keeps the range of its quantity: no share above all, no count below zero."""
    if reading.low is None or reading.high is None:
        return reading
    least = 1.0 if reading.what == "sends per call" else -math.inf if reading.what in SIGNED else 0.0
    low = max(least, reading.low) if min(values) >= least else reading.low
    return replace(reading, low=low, high=min(100.0, reading.high) if reading.unit == "%" else reading.high)


def difference(before: Study, after: Study) -> tuple[StudyReading, ...]:
    """After minus before, seed by seed, of everything that both have."""
    pairs = list(zip(before.samples, after.samples, strict=False))  # one may have reached a limit in an early run
    keys = _common([sample for pair in pairs for sample in pair]) if pairs else ()
    return tuple(StudyReading(*key, *interval([b[key] - a[key] for a, b in pairs])) for key in keys)


def _common(samples: Sequence[Sample]) -> Iterator[Key]:
    return (key for key in samples[0] if all(key in sample for sample in samples))


def interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """(mean, low, high) of independent values by Student's t; one value, or one that is not finite, has no interval."""
    if len(values) < 2 or not all(math.isfinite(value) for value in values):
        return statistics.fmean(values), None, None
    from scipy.special import stdtrit

    mean = statistics.fmean(values)
    half = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half
