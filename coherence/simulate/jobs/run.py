"""Executes a synchronous job: from event to event, with whole runs of steps between them at once.

The run is a list of spans that tile the time from 0 to its end.  A failure or a watchdog takes every
span since the last safe save; the ledger and the causes are read off the spans and the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coherence.simulate.jobs.job import Checkpoint, JobProgram, JobRecovery
from coherence.simulate.jobs.nodes import Nodes
from coherence.simulate.jobs.record import AT_RISK, Happening, JobLoss, JobRun, JobSpan, cause_of
from coherence.simulate.jobs.steps import Steps, Stream, joined, living
from coherence.simulate.jobs.ticks import NEVER, draw_one, generator, ticks

HOPELESS = 1_000  # losses in a row without a save between them


class _OverError(Exception):
    """The run ends here."""


def simulate(job: JobProgram, *, seed: int = 1, until: float = math.inf) -> JobRun:
    """Run the job to the end of its work or for `until` seconds.  The same seed gives the same run, bit by bit."""
    if math.isinf(job.work) and math.isinf(until):
        raise ValueError(f"work of {job.name} or until is needed: the run would not end")
    execution = _Execution(job, seed, ticks(until))
    try:
        while not execution.over():
            execution.advance()
    except _OverError as over:
        execution.reason = str(over)
        execution.land()
    return execution.result()


@dataclass(slots=True)
class _Flight:
    """An asynchronous save on its way: it makes `done` steps safe, which end with span `spans` - 1."""

    done: int
    spans: int
    lands: int


class _Execution:
    """A run in progress."""

    def __init__(self, job: JobProgram, seed: int, until: int) -> None:
        self.job, self.seed, self.until = job, seed, until
        self.now = self.done = self.safe_done = self.since = 0
        self.safe_spans = self.taken_spans = 0  # those before are safe; those before are safe or lost already
        self.stream, self.nodes = Stream(job, seed), Nodes(job, seed)
        self.saves, self.mishaps = generator(seed, "saves"), generator(seed, "recovery")
        self.blocks: list[Steps] = []
        self.base = self.at = 0  # steps before this block; steps of this block that are used up
        self.ends = np.zeros(1, np.int64)  # of the steps of this block, with 0 in front
        self.flight: _Flight | None = None
        self.spans: list[JobSpan] = []
        self.losses: list[JobLoss] = []
        self.trace: list[Happening] = []
        self.hopeless = 0
        self.reason = "finished"

    # -- the course of things ---------------------------------------------------------------------

    def over(self) -> bool:
        """Is all work done, and safe where it is saved at all?"""
        return self.done >= self.job.work and (self.job.checkpoint is None or self.safe_done == self.done)

    def advance(self) -> None:
        """Save, or run steps up to the next event."""
        plan = self.job.checkpoint
        if plan is not None and (self.done >= self.job.work or self._due()):
            self._save(plan)
        else:
            self._compute()

    def _due(self) -> bool:
        plan = self.job.checkpoint
        return plan is not None and self.now - self.since >= ticks(plan.every)

    def result(self) -> JobRun:
        steps = joined(self.blocks or [self.stream.block()], self.base + self.at)
        return JobRun(
            self.job, self.seed, self.now, self.done, self.reason, tuple(self.spans), steps,
            tuple(self.losses), tuple(sorted(self.trace, key=lambda entry: entry.time)),
        )  # fmt: skip

    def _pass(self, until: int, state: str, first: int = 0, last: int = 0) -> None:
        """Spend the time up to `until` in a state; the run's end cuts it."""
        over = until > self.until
        if over:
            state, until, first, last = "unfinished" if state in ("steps", "cut") else state, self.until, 0, 0
        if until > self.now:
            self.spans.append(JobSpan(self.now, until, state, self.done, first, last))
        self.now = until
        if over:
            raise _OverError("time is up")

    def _note(self, what: str, of: str) -> None:
        self.trace.append(Happening(self.now, what, of))

    # -- steps --------------------------------------------------------------------------------------

    def _fetch(self) -> Steps:
        """Returns the block with the next step."""
        if not self.blocks or self.at == len(self.blocks[-1]):
            self.base += self.at
            self.at = 0
            self.blocks.append(self.stream.block())
            self.ends = np.concatenate(([0], np.cumsum(self.blocks[-1].length)))
        return self.blocks[-1]

    def _compute(self) -> None:
        block = self._fetch()
        gone = int(self.ends[self.at])
        begin, offset = self.at, self.now - gone  # step k of the block ends at offset + ends[k + 1]
        last = self._last(block, gone)
        stop = min(self.nodes.next, self.until)
        if stop < offset + int(self.ends[last]):
            last = int(np.searchsorted(self.ends, stop - offset, side="right")) - 1
        self._take(begin, last, offset)
        self._cut(block, stop)

    def _last(self, block: Steps, gone: int) -> int:
        """Steps of the block that may run before work ends, a save is due, or a watchdog fires."""
        last = len(block)
        if self.job.work - self.done < last - self.at:
            last = self.at + int(self.job.work) - self.done
        if self.job.checkpoint is not None:
            due = gone + ticks(self.job.checkpoint.every) - (self.now - self.since)
            last = min(last, max(self.at + 1, int(np.searchsorted(self.ends, due, side="left"))))
        if self.job.watchdogs:
            kills = np.flatnonzero(block.timer[self.at : last] >= 0)
            last = self.at + int(kills[0]) if len(kills) else last
        return last

    def _take(self, begin: int, last: int, offset: int) -> None:
        if last > begin:
            done = self.done + last - begin
            self.at = last
            self._pass(offset + int(self.ends[last]), "steps", self.base + begin, self.base + last)
            self.done = done

    def _cut(self, block: Steps, stop: int) -> None:
        """The step at hand may be cut by a failure, a watchdog or the end of the run."""
        if self.at == len(block) or self.done >= self.job.work or self._due():
            return
        row, start = self.at, self.now
        kill = start + int(block.kill[row]) if block.timer[row] >= 0 else NEVER
        if min(stop, kill) >= start + int(block.length[row]):
            return
        self.at += 1
        if kill <= stop:
            self._pass(kill, "cut")
            self._kill(self.job.watchdogs[int(block.timer[row])].name, _why(self.job, block, row))
            return
        self._pass(self.nodes.next, "cut")
        self._fail(lambda node: start + self._first_wait(row, node, stop - start))

    def _first_wait(self, row: int, node: int, failed_at: int) -> int:
        per_node = self.job.failures.ranks_per_node if self.job.failures else 1
        return living(self.stream.arrivals[row], np.arange(self.job.ranks) // per_node == node, failed_at)

    # -- saves --------------------------------------------------------------------------------------

    def _save(self, plan: Checkpoint) -> None:
        if self.flight is not None and not self._stand(self.flight.lands, "checkpoint"):
            return
        self.land()
        if self.over():
            return
        takes = draw_one(plan.takes, self.saves)
        if plan.snapshot is not None:
            self._snapshot(draw_one(plan.snapshot, self.saves), takes)
            return
        patience, dog = self._impatience() if 0 < plan.writers < self.job.ranks else (NEVER, "")
        if takes > patience and self.nodes.next >= self.now + patience:
            self._pass(self.now + patience, "checkpoint")
            self._kill(dog, "the save by some ranks")
        elif self._stand(self.now + takes, "checkpoint"):
            self._safe(self.done, len(self.spans), self.now)
            self.since = self.now

    def _snapshot(self, stands: int, takes: int) -> None:
        if self._stand(self.now + stands, "checkpoint"):
            self.flight = _Flight(self.done, len(self.spans), self.now + takes)
            self.since = self.now

    def _stand(self, until: int, state: str) -> bool:
        """Stand still up to a time; False where a failure came first."""
        if self.nodes.next >= until:
            self._pass(max(until, self.now), state)
            return True
        failed = self.nodes.next
        self._pass(failed, state)
        self._fail(lambda _: failed)
        return False

    def land(self) -> None:
        """An asynchronous save that has come to its end by now is safe."""
        if self.flight is not None and self.flight.lands <= self.now:
            self._safe(self.flight.done, self.flight.spans, self.flight.lands)
            self.flight = None

    def _safe(self, done: int, spans: int, at: int) -> None:
        self.safe_done, self.safe_spans, self.hopeless = done, spans, 0
        self.trace.append(Happening(at, "saved", f"step {done}"))

    # -- failures and kills -------------------------------------------------------------------------

    def _impatience(self) -> tuple[int, str]:
        """Returns how long the first watchdog waits, and its name."""
        waits = [(ticks(self.mishaps.uniform(dog.earliest, dog.latest)), dog.name) for dog in self.job.watchdogs]
        return min(waits, default=(NEVER, ""))

    def _fail(self, first_wait: Callable[[int], int]) -> None:
        """A node fails now; the others wait from `first_wait(node)` on."""
        node = self.nodes.fail()
        self._note("failed", f"node {node}")
        self._lose(f"failure of node {node}")
        self._detect(first_wait(node))
        self._restart()

    def _kill(self, dog: str, because: str) -> None:
        self._note("killed", dog)
        self._lose(f"{dog} after {because}")
        self._restart()

    def _lose(self, cause: str) -> None:
        """All that is not safe is lost."""
        self.land()
        for span in self.spans[max(self.safe_spans, self.taken_spans) :]:
            if span.state in AT_RISK:
                span.loss = len(self.losses)
        self.taken_spans = len(self.spans)
        self.losses.append(JobLoss(self.now, cause))
        self.done, self.flight = self.safe_done, None
        self.hopeless += 1
        if self.hopeless >= HOPELESS:
            raise _OverError(f"no progress: {HOPELESS} losses in a row without a save")

    def _detect(self, first_wait: int) -> None:
        """Time until the failure is noticed, by detection or by the first watchdog; more nodes may fail in it."""
        recovery = self._recovery()
        looks = NEVER if recovery.detection is None else self.now + draw_one(recovery.detection, self.mishaps)
        patience, dog = self._impatience()
        self._pass(max(self.now, min(looks, first_wait + patience)), "detection")
        self._note("noticed", dog if first_wait + patience < looks else "detection")
        while self.nodes.next <= self.now:
            self._note("failed", f"node {self.nodes.fail()}")

    def _recovery(self) -> JobRecovery:
        assert self.job.recovery is not None
        return self.job.recovery

    def _restart(self) -> None:
        """Wait for spares, come up; a failure on the way is one more to be noticed and replaced."""
        while True:
            self._replace()
            comes_up = self.now + draw_one(self._recovery().restart, self.mishaps)
            if self.nodes.next >= comes_up:
                break
            self._pass(self.nodes.next, "restart")
            node = self.nodes.fail()
            self._note("failed", f"node {node}")
            self.losses.append(JobLoss(self.now, f"failure of node {node}"))  # takes nothing but time
            self._detect(self.now)
        self._pass(comes_up, "restart")
        self.since = self.now
        self._note("restarted", f"step {self.done}")

    def _replace(self) -> None:
        """New nodes for those that are down, as soon as there are spares for all; until then the job is idle."""
        repaired = 0
        while True:
            self.nodes.send_to_repair(len(self.nodes.down) - repaired, self.now)
            repaired = len(self.nodes.down)
            up = self.nodes.ready(self.now)
            if up == NEVER and self.until == NEVER:
                raise _OverError("no spare is left")
            if up <= self.now:
                break
            self._wait(up)
        self.nodes.replace(self.now)

    def _wait(self, up: int) -> None:
        """Idle until spares are there or another node fails."""
        self._pass(min(up, self.nodes.next), "idle")
        while self.nodes.next <= self.now:
            self._note("failed", f"node {self.nodes.fail()}")


def _why(job: JobProgram, block: Steps, row: int) -> str:
    return cause_of(job, int(block.why[row]), int(block.rank[row]))
