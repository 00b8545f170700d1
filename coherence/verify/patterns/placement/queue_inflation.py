"""queue inflation: each queue of a path is within its limit, and the waits together outlast the request.

## What
A request with a `deadline` passes several queues, one after another, each with a limit on what may wait (`when_full:
reject`).  The last of a full queue waits limit / (members x rate of one).  Where every one of these waits is within
the deadline, and their sum with the services is not, requests are late while no queue is over its limit and no pool is
asked for more than it serves.

Of calls that are made at once the longest counts.  At a thing that is called by members of others, which they hold
meanwhile, no more wait than these have members.  A single wait beyond a patience, and a pool that does not serve what
comes, are `overload`: nothing is said here.  Nothing is proved: waits of random services have no longest one.

## Why it hurts
Alarms watch queues one by one, and each of them is green.  What users wait is the sum.

## Example
```yaml
coherence: 1
workload: {users: {rate: 60 req/s, deadline: 2 s}}
components:
  parse: {copies: 1, rate_per_copy: 200 req/s}
  rank: {copies: 1, rate_per_copy: 100 req/s}
limits:
  a: {counts: parse.waiting, at_most: 150 req, when_full: reject}
  b: {counts: rank.waiting, at_most: 150 req, when_full: reject}
calls: [{from: users, to: parse, stage: first}, {from: users, to: rank, stage: second}]
```

## Instead
Limits whose waits add up to less than the deadline: `at_most: 90 req` each.

## Source
J. D. C. Little, A proof for the queuing formula L = lambda W (1961): a queue of L that is served at lambda takes L /
lambda.  Waits of stations that a request passes one after another add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.calls import Call
from coherence.language.design import Limit
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.facts.design_facts import DesignFacts, copies, known
from coherence.verify.patterns.limits.overload import WAITING, LoadedThing, station_of

QUESTION = Question("COH252", "queue-inflation", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
ZERO = Fraction(0)
MOST_QUEUES = 1000  # of a path: stages that call the same things again and again double it


@dataclass(frozen=True)
class FullQueue:
    """A thing on a path with the limit on what waits there, and how long the last of a full queue waits."""

    thing: str
    limit: Limit
    most: Quantity
    wait: Fraction


@dataclass(frozen=True)
class QueuePath:
    """The queues that a request passes, and how long it is served on the way at least."""

    queues: tuple[FullQueue, ...] = ()
    served: Fraction = ZERO

    @property
    def time(self) -> Fraction:
        """Returns how long the path takes where all of its queues are full."""
        return sum((queue.wait for queue in self.queues), self.served)

    def then(self, other: QueuePath) -> QueuePath:
        """Returns this path and another one after it."""
        return QueuePath((*self.queues, *other.queues), self.served + other.served)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each workload whose queues are within their limits and too long together."""
    design = subject.design
    if not design.limits or not design.calls:
        return
    paths = CallPaths(known(subject))
    for workload in design.workload.values():
        path = paths.longest(workload.name) if workload.deadline is not None else None
        if path is not None and workload.deadline is not None and _inflates(path, workload.deadline):
            yield _conflict(subject, workload, workload.deadline, path)


def _inflates(path: QueuePath, deadline: Quantity) -> bool:
    """Decides whether it takes several queues to be late."""
    alone = all(queue.wait <= deadline.low for queue in path.queues)
    return alone and len(path.queues) > 1 and path.time > deadline.high


class CallPaths:
    """The longest path behind each thing that calls others, found once for all that call it."""

    def __init__(self, facts: DesignFacts) -> None:
        self.facts = facts
        self.behind: dict[str, QueuePath | None] = {}
        self.calls: dict[str, list[Call]] = {}
        for call in facts.design.calls:
            if call.fallback_for is None:
                self.calls.setdefault(str(call.caller), []).append(call)

    def longest(self, thing: str) -> QueuePath | None:
        """Returns the longest path behind a thing; None where one comes back, is conditional, or is asked for too much.

        Stages follow one another; of calls without an order, which may be made at once, the longest counts.
        """
        if thing not in self.behind:
            self.behind[thing] = None  # while it is looked for: a path comes back
            self.behind[thing] = self._joined(self.calls.get(thing, []))
        return self.behind[thing]

    def _joined(self, calls: Sequence[Call]) -> QueuePath | None:
        path = QueuePath()
        for own in _stages(calls):
            parts = [self._of_call(call) for call in own]
            known_parts = [part for part in parts if part is not None]
            if len(known_parts) < len(parts) or len(path.queues) > MOST_QUEUES:
                return None
            path = path.then(max(known_parts, key=lambda part: part.time))
        return path

    def _of_call(self, call: Call) -> QueuePath | None:
        thing = str(call.callee)
        station = station_of(self.facts, thing)
        full = station is not None and (station.each.open or station.demand.high >= station.capacity)
        inner = None if call.cases or full else self.longest(thing)
        return None if inner is None else _own(self.facts, thing, station).then(inner)


def _stages(calls: Sequence[Call]) -> Iterable[list[Call]]:
    """Returns calls that are made at once together; where some have a stage, each without one is alone."""
    stages: dict[str, list[Call]] = {}
    ordered = any(call.stage is not None for call in calls)
    for number, call in enumerate(calls):
        alone = f" {number}" if ordered else ""
        stages.setdefault(call.stage.text if call.stage is not None else alone, []).append(call)
    return stages.values()


def _own(facts: DesignFacts, thing: str, station: LoadedThing | None) -> QueuePath:
    """Returns the queue of a thing and its service, as far as they are stated."""
    if station is None:
        return QueuePath()
    stated = [
        (limit, limit.at_most)
        for path, limits in facts.counted.items()
        for limit in limits
        if path.partition(".")[0] == thing and path.partition(".")[2] in WAITING and _rejects(limit)
        and isinstance(limit.at_most, Quantity)
    ]  # fmt: skip
    limit, most = min(stated, key=lambda pair: pair[1].low, default=(None, None))
    served = 1 / station.each.high if station.each.high else ZERO
    if limit is None or most is None:
        return QueuePath((), served)
    waiting, room = most.low, _held_before(facts, thing)
    wait = (min(waiting, room) if room is not None else waiting) / (station.many * station.each.high)
    return QueuePath((FullQueue(thing, limit, most, wait),), served)


def _rejects(limit: Limit) -> bool:
    return limit.when_full is not None and limit.when_full.text == "reject"


def _held_before(facts: DesignFacts, thing: str) -> Fraction | None:
    """Returns how many at most call a thing at once, where all of its callers hold a member meanwhile; else None."""
    callers = {str(call.caller) for call in facts.design.calls if str(call.callee) == thing}
    if callers & set(facts.design.workload):
        return None
    members = [copies(facts, caller) for caller in callers]
    highs = [own.high for own in members if own is not None and own.high is not None]
    return sum(highs, ZERO) if len(highs) == len(callers) else None


def _conflict(subject: Subject, workload: Workload, deadline: Quantity, path: QueuePath) -> Finding:
    waits = ", ".join(f"{render_seconds(queue.wait)} at {queue.thing}" for queue in path.queues)
    message = (
        f"requests of {workload.name} take {render_seconds(path.time)} of {render_seconds(deadline.low)} where "
        f"{len(path.queues)} queues are full, each within its limit ({waits})"
    )
    places = (
        deadline.place.labelled(f"{workload.name} waits no longer"),
        *(queue.most.place.labelled(f"so many wait at {queue.thing}") for queue in path.queues),
    )
    numbers = {f"wait at {queue.thing}": (queue.wait, "s") for queue in path.queues}
    numbers |= {"together": (path.time, "s"), "deadline": (deadline.low, "s")}
    of = (workload.name, *(name for queue in path.queues for name in (queue.thing, queue.limit.name)))
    return QUESTION.conflict(
        message, places, of, arithmetic(numbers, witness=tuple(_witness(path, deadline))), certain=False,
        assumptions=("queues are first come, first served, and full at one time",),
        repairs=_shorter(subject, path, deadline),
    )  # fmt: skip


def _witness(path: QueuePath, deadline: Quantity) -> Iterator[Step]:
    """Yields where a request is from queue to queue."""
    now = ZERO
    for queue in path.queues:
        yield Step(now, f"the request is the last that {queue.limit.name} lets into the queue of {queue.thing}")
        now += queue.wait
    yield Step(deadline.low, f"its deadline has passed; all waits together take {render_seconds(now)}")


def _shorter(subject: Subject, path: QueuePath, deadline: Quantity) -> Iterator[Repair]:
    """Yields limits that are shorter in one proportion, so that the deadline holds."""
    waits = path.time - path.served
    spare = deadline.low - path.served
    if spare <= 0 or not waits:
        return
    edits = [
        repairs.change(subject, queue.most, Fraction(int(queue.most.low * spare / waits))) for queue in path.queues
    ]
    repair = repairs.proposal(*edits)
    yield from [repair] if repair is not None else []
