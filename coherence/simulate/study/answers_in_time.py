"""Judges promises that requests of a workload are answered within a time, by the requests of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def first_late(answer: AnswerPromise, program: Program, result: RequestResult, warmup: float) -> float | None:
    """Returns when the first request was not answered in time, failed ones included; None where all were."""
    import numpy as np

    number = next(n for n, source in enumerate(program.sources) if source.name == answer.workload)
    done = result.requests
    mine = (done.source == number) & (done.start >= warmup)
    late = mine & ((done.end - done.start > answer.within) | ~done.completed)
    ends = np.minimum(done.end, done.start + answer.within)[late]
    times = [float(ends.min())] if len(ends) else []
    series = result.series
    old = np.flatnonzero(series["time"] <= result.end - answer.within)
    if len(old):  # of those that came so long ago some have not ended
        last = old[-1]
        before = int((done.start[mine] <= series["time"][last]).sum())
        came = int(series[f"{answer.workload}.arrivals"][last] - series[f"{answer.workload}.arrivals"][0])
        if came > before and warmup == 0:
            times.append(float(series["time"][last]) + answer.within)
    return min(times, default=None)
