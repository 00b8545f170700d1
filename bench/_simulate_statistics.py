"""Rows of the intervals of `simulate`: how often 95 % intervals hold the true value, beside closed forms.

Every study is one call of the command with its defaults (10 min, 5 runs, start-up by the test) under seeds of its own.
`COHERENCE_STUDIES` says how many studies of a queue are drawn (1,000; with a precision 250).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from bench._simulate_requests import erlang_c
from bench.harness import Row, on_all_cores
from coherence.language.reading import read_text
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

FIGURES = ("mean", "P50", "P95", "P99")
RUNS = 5
MINUTES = 600.0  # s: the default of --for


@dataclass(frozen=True)
class KnownQueue:
    """M/M/c with services of 100 ms on average, at a load."""

    servers: int
    load: float

    @property
    def text(self) -> str:
        """The design of the queue."""
        return (
            f"coherence: 1\nworkload: {{web: {{rate: {10 * self.servers * self.load:g} req/s, "
            f"service: {{mean: 100 ms, cv: 1}}}}}}\ncomponents: {{s: {{copies: {self.servers}}}}}\n"
            "calls: [{from: web, to: s}]\n"
        )

    def tail(self, time: float) -> float:
        """The share of requests that take longer.  SOURCE: Kleinrock, Queueing Systems 1, 3.5."""
        wait, rate, free = erlang_c(self.servers, self.servers * self.load), 10.0, 10 * self.servers * (1 - self.load)
        if math.isclose(free, rate):
            return math.exp(-rate * time) * (1 + wait * rate * time)
        share = (free * math.exp(-rate * time) - rate * math.exp(-free * time)) / (free - rate)
        return (1 - wait) * math.exp(-rate * time) + wait * share

    def truth(self) -> dict[str, float]:
        """Mean and percentiles (s)."""
        wait = erlang_c(self.servers, self.servers * self.load) / (10 * self.servers * (1 - self.load))
        return {"mean": 0.1 + wait, **{f"P{q}": self._quantile(q / 100) for q in (50, 95, 99)}}

    def _quantile(self, level: float) -> float:
        low, high = 0.0, 1000.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if self.tail(middle) > 1 - level else (low, middle)
        return high


@dataclass(frozen=True)
class FigureHeld:
    """What one study says of a figure: no interval (None), or whether it holds the truth."""

    figure: str
    holds: bool | None


def answers(queue: KnownQueue, precision: float | None, number: int) -> list[FigureHeld]:
    """One study of a queue under its own seeds, figure by figure."""
    seeds = tuple(range(RUNS * number + 1, RUNS * number + RUNS + 1))
    setting = Setting(MINUTES, seeds=seeds, finds_start_up=True, precision=precision)
    read = {reading.what: reading for reading in study(read_text(queue.text, "design.yaml"), setting).readings}
    truth = queue.truth()
    return [
        FigureHeld(figure, None if r.low is None or r.high is None else r.low <= truth[figure] <= r.high)
        for figure in FIGURES
        for r in [read[figure]]
    ]


QUEUES = (KnownQueue(1, 0.5), KnownQueue(1, 0.9), KnownQueue(4, 0.5), KnownQueue(4, 0.9))
PRECISE = (KnownQueue(1, 0.9), KnownQueue(4, 0.9))


def coverage(queue: KnownQueue, studies: int, precision: float | None = None) -> dict[str, tuple[int, int]]:
    """figure -> (studies that told an interval, those whose interval holds the truth)."""
    every = [one for answer in on_all_cores(partial(answers, queue, precision), range(studies)) for one in answer]
    told = {figure: [one for one in every if one.figure == figure and one.holds is not None] for figure in FIGURES}
    return {figure: (len(ones), sum(bool(one.holds) for one in ones)) for figure, ones in told.items()}


def rows() -> Iterator[Row]:
    """Coverage of each figure and of all, and how often a run is said to be too short."""
    studies = int(os.environ.get("COHERENCE_STUDIES", "1000"))
    for queues, precision, count in ((QUEUES, None, studies), (PRECISE, 0.05, studies // 4)):
        total = [0, 0]
        for queue in queues:
            for figure, (told, held) in coverage(queue, count, precision).items():
                total = [total[0] + told, total[1] + held]
                yield from _figure(queue, figure, precision, count, told, held)
        name = "all figures" + (", --precision 5 %" if precision else "")
        yield Row(f"{name}: 95 % intervals that hold", 100 * total[1] / total[0], ">= 93.5", "%", "closed forms")
        yield Row(
            f"{name}: 95 % intervals that hold, at most", 100 * total[1] / total[0], "<= 96.5", "%", "closed forms"
        )


def _figure(
    queue: KnownQueue, figure: str, precision: float | None, count: int, told: int, held: int
) -> Iterator[Row]:  # fmt: skip
    name = f"M/M/{queue.servers} at {queue.load:g}, {figure}" + (", --precision 5 %" if precision else "")
    if told >= count / 20:  # of fewer, the share that holds says nothing
        yield Row(f"{name}: intervals that hold", 100 * held / told, ">= 93", "%", f"of {told} told, closed form")
    if queue.load < 0.9 or precision:
        most = 5 if precision is None else 0
        yield Row(f"{name}: too short to tell", 100 * (count - told) / count, f"<= {most}", "%", "")
