"""Runs a design several times: every quantity with its interval, and two designs compared on the same chances.

Runs differ in their seed alone and are independent, so the interval of a mean over them is Student's,
whatever the correlation inside a run.  Two designs are compared seed by seed: streams of chance are
named after what they feed, so both meet the same arrivals, and the interval is that of the difference.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from coherence.language.sentences import Promise
from coherence.simulate.study.readings import Key, Sample
from coherence.simulate.study.setting import Setting

CONFIDENCE = 0.95


@dataclass(frozen=True)
class StudyReading:
    """Mean of a quantity over the runs, and the ends of its 95 % interval (None for a single run)."""

    of: str
    what: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None

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

    `stopped`: somebody ended it before the last run; `setting` has the seeds of the runs that were done.
    """

    setting: Setting
    samples: tuple[Sample, ...]
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: bool = False
    promises: tuple[JudgedPromise, ...] = ()

    @property
    def readings(self) -> tuple[StudyReading, ...]:
        """Every quantity that all runs have, in the order of the first."""
        keys = _common(self.samples)
        return tuple(_within(StudyReading(*key, *interval([s[key] for s in self.samples]))) for key in keys)


def _within(reading: StudyReading) -> StudyReading:
    """Returns a share has an interval inside 0 to 100 %."""
    if reading.unit != "%" or reading.low is None or reading.high is None:
        return reading
    return replace(reading, low=max(0.0, reading.low), high=min(100.0, reading.high))


def difference(before: Study, after: Study) -> tuple[StudyReading, ...]:
    """After minus before, seed by seed, of everything that both have."""
    pairs = list(zip(before.samples, after.samples, strict=True))
    keys = _common((*before.samples, *after.samples))
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
