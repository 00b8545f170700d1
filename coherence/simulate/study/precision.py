"""Makes runs longer, or more of them, until latencies are told as precisely as asked, and leaves out their start-up.

Each round runs the same seeds again for a longer time, or adds seeds where each run is a story of its own, and looks
at the intervals of all requests so far. Rounds grow by a half at least, and the first has to hold many independent
groups of requests, so that stopping when an interval is short enough hardly favours intervals that are too short:
`python -m bench simulate` counts how often those hold the true value.
SOURCE: Chow, Robbins, On the asymptotic theory of fixed-width sequential confidence intervals (1965).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from coherence.base.number_text import render_clock
from coherence.simulate.requests.program import Program
from coherence.simulate.study.pooled_readings import Steadiness, outcome_notes, pooled_readings, steadiness
from coherence.simulate.study.repeated_runs import StudyReading
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.setting import Setting

GROWS = (1.5, 16.0)  # by how much a round is longer than the one before, at least and at most
MARGIN = 1.2  # so much more than the intervals seem to need
ROUNDS = 12
MOST_RUNS = 100_000

Runner = Callable[[Setting], Iterable[RunRecord]]


@dataclass(frozen=True)
class SteadyOutcome:
    """Runs that were done, under which setting, and what they say of latencies."""

    setting: Setting
    records: tuple[RunRecord, ...]
    pooled: tuple[StudyReading, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: bool = False
    steady: Steadiness | None = None


def steady_outcome(program: Program, setting: Setting, run: Runner, *, scheduled: bool = False) -> SteadyOutcome:
    """Runs a setting, without its start-up, until its precision is reached, or somebody stops it.

    scheduled: something happens to an inference server at stated times.
    """
    outcome = _round(program, setting, run, scheduled)
    for _ in range(ROUNDS):
        further = longer(outcome, setting)
        if further is None:
            return outcome
        following = _round(program, further, run, scheduled)
        if following.stopped or following.setting.seeds != further.seeds:
            return replace(outcome, stopped=following.stopped, notes=(*outcome.notes, _missed(setting)))
        outcome = following
    return replace(outcome, notes=(*outcome.notes, _missed(setting)))


def _missed(setting: Setting) -> str:
    return f"the precision of {100 * (setting.precision or 0):g} % was not reached"


def _round(program: Program, setting: Setting, run: Runner, scheduled: bool) -> SteadyOutcome:
    """Runs a setting; where a start-up shows, again without it."""
    setting, records, stopped = _records_of(setting, run)
    if not program.sources and not any(record.served for record in records):
        return SteadyOutcome(setting, records, stopped=stopped)
    steady = steadiness(program, records, setting, scheduled=scheduled)
    notes: tuple[str, ...] = ()
    if setting.finds_start_up and steady.start_up and not stopped:
        cut = replace(setting, warmup=setting.warmup + steady.start_up)
        setting, again, stopped = _records_of(cut, run)
        records = again or records
        steady = replace(steadiness(program, records, setting, scheduled=scheduled), start_up=0.0)
        notes = (f"the start-up of {render_clock(round(setting.warmup, 3))} is left out; --warm-up says how much",)
    pooled = tuple(pooled_readings(program, records, setting, steady))
    all_notes = (*notes, *_story(steady, setting), *outcome_notes(program, records))
    return SteadyOutcome(setting, records, pooled, all_notes, stopped=stopped, steady=steady)


def _story(steady: Steadiness, setting: Setting) -> tuple[str, ...]:
    return (f"{steady.why}: intervals of latencies are over {len(setting.seeds)} runs",) if steady.why else ()


def _records_of(setting: Setting, run: Runner) -> tuple[Setting, tuple[RunRecord, ...], bool]:
    """Runs the seeds; what is there when somebody stops them, or a run needs too much, is kept."""
    records: list[RunRecord] = []
    stopped = False
    try:
        for record in run(setting):
            records.append(record)
            if record.stopped:
                break
    except KeyboardInterrupt:
        if not records:
            raise
        stopped = True
    return replace(setting, seeds=setting.seeds[: len(records)]), tuple(records), stopped


def longer(outcome: SteadyOutcome, wanted: Setting) -> Setting | None:
    """Returns the setting of the next round; None where nothing is missing, or more would not help."""
    setting, steady = outcome.setting, outcome.steady
    stopped = outcome.stopped or any(record.stopped for record in outcome.records)
    if wanted.precision is None or steady is None or stopped:
        return None
    missing = max((_missing(reading, wanted.precision) for reading in outcome.pooled), default=0.0)
    if missing <= 1:
        return None
    factor = min(max(missing * MARGIN, GROWS[0]), GROWS[1])
    if steady.why:
        return _more(setting, math.ceil(len(setting.seeds) * factor))
    return replace(setting, warmup=wanted.warmup, until=setting.until * factor)


def _missing(reading: StudyReading, precision: float) -> float:
    """Returns how many times as much has to be run for a reading."""
    if reading.unit != "s" or reading.more_than:
        return 0.0
    if reading.too_short:
        return max(reading.shortage, GROWS[0])
    if reading.low is None or reading.high is None or not reading.value:
        return 0.0
    return ((reading.high - reading.low) / 2 / reading.value / precision) ** 2


def _more(setting: Setting, count: int) -> Setting | None:
    """Returns the setting with so many seeds; None where they would be too many."""
    if count > MOST_RUNS:
        return None
    known = setting.seeds
    return replace(setting, seeds=(*known, *range(max(known) + 1, max(known) + 1 + count - len(known))))
