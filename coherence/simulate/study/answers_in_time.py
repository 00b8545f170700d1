"""Judges promises that requests of a workload are answered within a time, by the requests of a run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from coherence.language.sentences import Event, Promise

if TYPE_CHECKING:
    from coherence.language.design import Design
    from coherence.simulate.requests.engine import RequestResult
    from coherence.simulate.requests.program import Program

COMES = ("accepted", "arrives", "arrived", "starts", "started", "sent", "received")
ENDS = ("completed", "answered", "ends", "ended", "done", "served", "finished")


@dataclass(frozen=True)
class AnswerPromise:
    """Each request of a workload is answered within so many seconds."""

    workload: str
    within: float


def answer_promise(design: Design, promise: Promise) -> AnswerPromise | None:
    """Returns the promise `after w.accepted then w.completed within t` of a workload; None for any other."""
    if promise.kind != "response" or promise.within is None or promise.first is None or promise.second is None:
        return None
    (workload, comes), (other, ends) = _words(promise.first), _words(promise.second)
    same = workload == other and workload in design.workload
    return AnswerPromise(workload, float(promise.within.low)) if same and comes in COMES and ends in ENDS else None


def _words(event: Event) -> tuple[str, str]:
    """Returns the thing and the last word of `clients.accepted` or `clients accepted`."""
    thing, _, happens = event.text.replace(".", " ").partition(" ")
    return thing, happens


class ArrivalLooks:
    """Looks at how many requests have arrived when the warm-up ends, and when an answer is last due by the end (s)."""

    def __init__(self, answers: Iterable[AnswerPromise] = (), until: float = 0.0, warmup: float = 0.0) -> None:
        lasts = {until - answer.within for answer in answers}
        self.times = sorted(time for time in (lasts | {warmup} if lasts else lasts) if 0 < time < until)
        self.counts: dict[float, Mapping[str, float]] = {}

    def advance(self, run: AdvancingRun, counted: CountedRequests, until: float) -> None:
        """Lets a run go on to a time (s)."""
        for time in self.times:
            if counted.time <= time < until and time not in self.counts:
                run.advance(time)
                self.counts[time] = counted.observe()
        run.advance(until)

    def of(self, workload: str) -> dict[float, int]:
        """Returns how many requests of a workload had come at each look."""
        return {time: int(counts[f"{workload}.arrivals"]) for time, counts in self.counts.items()}


class AdvancingRun(Protocol):
    """A run that goes on, with or without loops."""

    def advance(self, until: float) -> object:
        """Goes on to a time (s)."""


class CountedRequests(Protocol):
    """Requests whose number is known at any time."""

    @property
    def time(self) -> float: ...

    def observe(self) -> Mapping[str, float]:
        """Returns all counts now."""


def first_late(
    answer: AnswerPromise, program: Program, result: RequestResult, warmup: float, looks: ArrivalLooks
) -> float | None:
    """Returns when the first request was not answered in time, failed ones included; None where all were.

    What has not ended is known by the times at which all counts were written down, and at which `looks` looked.
    """
    import numpy as np

    number = next(n for n, source in enumerate(program.sources) if source.name == answer.workload)
    done = result.requests
    mine = (done.source == number) & (done.start >= warmup)
    late = mine & ((done.end - done.start > answer.within) | ~done.completed)
    ends = np.minimum(done.end, done.start + answer.within)[late]
    times = [float(ends.min())] if len(ends) else []
    series, came = result.series, {0.0: 0}
    came |= dict(zip(series["time"].tolist(), series[f"{answer.workload}.arrivals"].tolist(), strict=True))
    came |= looks.of(answer.workload)
    begun = np.sort(done.start[mine & (done.start > warmup)] if warmup else done.start[mine])
    old = sorted(time for time in came if warmup < time <= result.end - answer.within) if warmup in came else []
    ended = np.searchsorted(begun, np.array(old), side="right").tolist()
    unanswered = (time for time, count in zip(old, ended, strict=True) if came[time] - came[warmup] > count)
    times += [time + answer.within for time in itertools.islice(unanswered, 1)]
    return min(times, default=None)
