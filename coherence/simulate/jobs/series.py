"""Converts a run of a job into telemetry: what its own instruments would show, and the true causes beside it.

| signal | kind, unit | meaning |
|---|---|---|
| `<job>.steps` | counter, step | steps that ended, also those that were lost later |
| `<job>.progress` | gauge, step | steps that the job has behind it; falls back with a loss |
| `<job>.computing`, `.waiting`, `.collective` | counter, rank s | of the steps that ended |
| `<job>.saving`, `.down` | counter, rank s | standing still for saves; detection, restart and want of a spare |
| `<job>.saves`, `.failures`, `.kills` | counter, 1 | so far |
| `<job>.up` | gauge, 1 | 1 in steps and saves |
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from coherence.simulate.jobs.blame import blame
from coherence.simulate.jobs.ledger import step_ends
from coherence.simulate.jobs.record import JobRun, JobSpan
from coherence.simulate.jobs.ticks import SECOND, Ticks, seconds, ticks
from coherence.simulate.telemetry.contract import Floats, LossCause, Signal, Telemetry, telemetry

UP = ("steps", "cut", "checkpoint", "unfinished")
DOWN = ("detection", "restart", "idle")


def of_job(run: JobRun, *, sample_every: float) -> Telemetry:
    """Telemetry at 0, `sample_every`, ... seconds up to the end of the run, with the causes of each interval."""
    if not ticks(sample_every):
        raise ValueError(f"sample_every(={sample_every}) must be at least 1 ns")
    every = ticks(sample_every)
    at = np.arange(run.end // every + 1, dtype=np.int64) * every
    name, times = run.job.name, at / SECOND
    samples = {
        Signal(f"{name}.{word}", unit, kind, f"job {name}"): (times, values)
        for word, unit, kind, values in (*_of_steps(run, at), *_of_spans(run, at), *_of_trace(run, at))
    }
    blamed = (LossCause(_float(b.time), b.loss, b.cause, _float(b.amount), "rank s") for b in blame(run, every=every))
    return telemetry(samples, causes=blamed, grid=times)


def _float(count: int) -> float:
    return float(seconds(count))


def _of_steps(run: JobRun, at: Ticks) -> Iterable[tuple[str, str, str, Floats]]:
    steps, ends = run.steps, step_ends(run)
    ended = ends >= 0
    seen = np.searchsorted(ends[ended], at, side="right")
    computing = steps.needed + steps.straggling + steps.slowed + steps.paused
    yield "steps", "step", "counter", seen.astype(np.float64)
    columns = (("computing", computing), ("waiting", steps.waiting), ("collective", run.job.ranks * steps.collective))
    for word, column in columns:
        grown = np.concatenate(([0.0], np.cumsum(column[ended] / SECOND)))
        yield word, "rank s", "counter", grown[seen]
    yield "progress", "step", "gauge", _progress(run, at, ends[ended], seen)


def _progress(run: JobRun, at: Ticks, ends: Ticks, seen: npt.NDArray[np.intp]) -> Floats:
    """Steps behind the job at the start of the span at hand, and those that have ended in it since."""
    if not run.spans:
        return np.zeros(len(at))
    starts, done = _column(run.spans, "start"), _column(run.spans, "done")
    span = np.maximum(np.searchsorted(starts, at, side="right") - 1, 0)
    within = seen - np.searchsorted(ends, starts[span], side="right")
    return np.asarray(done[span] + np.maximum(within, 0), np.float64)


def _column(spans: Iterable[JobSpan], name: str) -> Ticks:
    return np.array([getattr(span, name) for span in spans], np.int64)


def _of_spans(run: JobRun, at: Ticks) -> Iterable[tuple[str, str, str, Floats]]:
    starts, ends = _column(run.spans, "start"), _column(run.spans, "end")
    for word, states in (("saving", ("checkpoint",)), ("down", DOWN)):
        spent = np.array([span.end - span.start if span.state in states else 0 for span in run.spans], np.float64)
        edges = np.concatenate(([0], ends)).astype(np.float64)
        grown = np.concatenate(([0.0], np.cumsum(spent)))
        yield word, "rank s", "counter", run.job.ranks * np.interp(at.astype(np.float64), edges, grown) / SECOND
    up = np.array([span.state in UP for span in run.spans], np.float64)
    index = np.searchsorted(starts, at, side="right") - 1
    yield "up", "1", "gauge", up[np.maximum(index, 0)] if len(up) else np.zeros(len(at))


def _of_trace(run: JobRun, at: Ticks) -> Iterable[tuple[str, str, str, Floats]]:
    for word, what in (("saves", "saved"), ("failures", "failed"), ("kills", "killed")):
        when = np.sort(np.array([entry.time for entry in run.trace if entry.what == what], np.int64))
        yield word, "1", "counter", np.searchsorted(when, at, side="right").astype(np.float64)
