"""The parts of kubelet's probes against a plain worker, trace by trace.

`Worker` is written from what the program does: a ticker that keeps at most one tick, a delay counted in whole seconds
of the container's age, failures in a row, and a startup probe that holds the others back.  What has failed in a row is
forgotten where the probe has killed the container, not where that ended by itself.  It shares nothing with the engine,
which states a window in which the probe acts; the trace must lie in it, and its ends must be met.
SOURCE: Kubernetes 1.20 to 1.35, pkg/kubelet/prober/worker.go: run, doProbe.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest

from coherence.language.catalogue import omissions
from coherence.language.reading import read_text
from coherence.verify.timers.firing import FiringWindow, firing
from tests.draws import source, trace_counts

PARTS = ("startup_probe", "liveness_probe", "readiness_probe")
F = Fraction
Reply = Callable[[Fraction], Fraction]  # age of the container -> seconds until the probe has failed


@dataclass(frozen=True)
class Worker:
    """initialDelaySeconds, periodSeconds, failureThreshold and timeoutSeconds of one probe."""

    delay: int
    period: int
    threshold: int
    timeout: int

    def acts(self, phase: Fraction, reply: Reply, started: int = 0, failures: int = 0) -> Fraction:
        """Returns the age of a container that never answers rightly, when the probe has failed for good.

        `phase`: its age at the first tick; `started`: its age when the startup probe, if any, has succeeded;
        `failures`: those in a row of the container before it, which ended by itself.
        """
        tick, free = phase, F(0)
        while True:
            begin = max(tick, free)  # a tick that comes during a probe is kept, one of them
            tick += (int((begin - tick) / self.period) + 1) * self.period
            if int(begin) < self.delay or begin < started:
                free = begin
                continue
            free = begin + min(reply(begin), F(self.timeout))
            failures += 1
            if failures == self.threshold:
                return free


def window(part: str, worker: Worker) -> FiringWindow:
    """Returns when the part says that the probe acts, after the start of the container."""
    text = f"""coherence: 1
timers:
  probe: {{uses: {part}, from: web starts, first: {worker.delay} s, every: {worker.period} s,
    misses: {worker.threshold}, reply_within: {worker.timeout} s, then: restart web}}
"""
    fires = firing(read_text(text).timers["probe"])
    assert fires is not None
    return fires.window


def drawn(rng: random.Random) -> Worker:
    return Worker(rng.choice((0, 0, 1, 5, 30)), rng.randint(1, 12), rng.randint(1, 8), rng.randint(1, 15))


@pytest.mark.parametrize("part", PARTS)
@trace_counts(130, of=PARTS)
def test_a_container_that_never_answers_is_found_within_the_window_of_the_part(part: str, traces: int) -> None:
    rng = source(22)
    for _ in range(traces):
        worker = drawn(rng)
        phase = F(rng.randint(0, 999), 1000) * worker.period
        replies = [F(rng.randint(0, 20_000), 1000) for _ in range(7)]
        age = worker.acts(phase, lambda begin, replies=replies: replies[int(begin) % 7])  # type: ignore[misc]
        span = window(part, worker)
        assert span.latest is not None
        assert span.earliest <= age <= span.latest, (worker, phase, replies)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("worker", [Worker(0, 10, 3, 1), Worker(30, 10, 1, 5), Worker(5, 1, 3, 5), Worker(0, 1, 1, 5)])
def test_both_ends_of_the_window_are_met(part: str, worker: Worker) -> None:
    """Refused at once from the first moment on; and a first probe just before its latest time, none answered."""
    span, late = window(part, worker), F(worker.period) - F(1, 1000)
    phase = (worker.delay + late) % worker.period
    assert worker.acts(F(worker.delay) % worker.period, lambda _: F(0)) == span.earliest
    assert span.latest is not None
    assert 0 < span.latest - worker.acts(phase, lambda _: F(99)) <= F(1, 500)


def test_while_a_startup_probe_has_not_succeeded_the_others_wait_but_their_delay_counts_on() -> None:
    liveness = Worker(20, 10, 3, 1)
    assert liveness.acts(F(0), lambda _: F(0)) == 40
    assert liveness.acts(F(0), lambda _: F(0), started=15) == 40
    assert liveness.acts(F(0), lambda _: F(0), started=61) == 90


@pytest.mark.parametrize("part", ["startup_probe", "liveness_probe"])
def test_failures_of_a_container_that_ended_by_itself_count_on_which_the_part_says(part: str) -> None:
    worker = Worker(0, 10, 3, 1)
    assert worker.acts(F(0), lambda _: F(0), failures=2) == 0 < window(part, worker).earliest
    assert any("failures of a container that ended by itself" in text for text in omissions("timers", part))
