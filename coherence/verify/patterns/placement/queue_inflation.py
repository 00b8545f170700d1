"""queue inflation: each queue of a path is within its limit, and the waits together outlast the request.

## What
A request with a `deadline`, or whose call is given up after its limit and not tried again, passes queues, one after
another, each with a limit on what may wait (`when_full: reject`).
The last of a full queue waits limit / (members x rate of one).  Where the sum of these waits and of the services is
beyond the deadline, requests are late while no queue is over its limit and no pool is asked for more than it serves,
even where each wait is within the deadline.  Where the sum is within it, and nothing else can keep a request, that is a
proof for members that serve at their rates, or of services that have a longest one (`service: {max: ...}`, or no
spread), which then counts for each: of any other law a wait has no bound.

Of calls that are made at once the longest counts, of calls without an order at most all.  A caller waits no longer than
the limit of its call.  At a thing that is called by members of others, which they hold meanwhile, no more wait than
these have members, and of a workload no more than it may have in flight.  Queues that are not served in the order of
arrival keep nobody for a time that is known.  Of members that loops give, a proof counts the fewest and a conflict the
most.  A time of a thing or of a workload that is longer than the rates say is asked about, and so is the wait for a
link; the `call_delay` of boundaries between two things counts.  A queue that is too long for the limit of one call, and
a pool that does not serve what comes, are `overload`: nothing is said of these here.

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

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_quantity, render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.calls import Call
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.calls.retry_policies import retry_policy_of
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import in_flight_limits, place_of
from coherence.verify.patterns.placement._queue_paths import ZERO, CallPaths, QueuePath, worked_apart
from coherence.verify.queues.offered_load import offered

if TYPE_CHECKING:
    from coherence.verify.patterns.placement._full_queues import FullQueue

QUESTION = Question("COH252", "queue-inflation", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
STEADY = "each member serves at its stated rate while its queue is full"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each workload with a deadline that passes queues which are limited."""
    design = subject.design
    if not design.limits or not design.calls:
        return
    facts = known(subject)
    paths, slower = CallPaths(facts), CallPaths(facts, fewest=True)
    for workload in design.workload.values():
        for deadline, call in _patiences(design, workload):
            path = _behind(paths, workload, call)
            if path is not None and path.queues:
                path = _shared(facts, workload, path)
                if call is not None and any(q.thing == str(call.callee) and q.wait > deadline.low for q in path.queues):
                    continue  # COH245 says so
                if path.time > deadline.low and not path.unclear:
                    yield _conflict(subject, workload, deadline, path)
                else:
                    slow = _shared(facts, workload, _behind(slower, workload, call) or path)
                    yield _ends(facts, workload, deadline, slow)


def _patiences(design: Design, workload: Workload) -> Iterator[tuple[Quantity, Call | None]]:
    """Yields how long requests of a workload wait: its deadline, or the limit of each call that is tried once."""
    if workload.deadline is not None:
        yield workload.deadline, None
        return
    for call in design.calls:
        plan = retry_policy_of(call)
        once = str(call.caller) == workload.name and call.fallback_for is None and not plan.retries
        stated = [end for end in (call.deadline, call.per_try) if isinstance(end, Quantity)]
        if once and stated and not plan.streams:
            yield min(stated, key=lambda end: end.low), call


def _behind(paths: CallPaths, workload: Workload, call: Call | None) -> QueuePath | None:
    """Returns the path of a request, or that behind one of its calls, however long its caller waits."""
    return paths.longest(workload.name) if call is None else paths.of_try(call)


def _shared(facts: DesignFacts, workload: Workload, path: QueuePath) -> QueuePath:
    """Returns the path whose queues hold requests of this workload alone, if they do: what leaves one fills the next.

    No more than it has in flight wait anywhere.  None of these has been left by its caller, where so many are in time.
    """
    from coherence.verify.patterns.placement._full_queues import longest_wait

    loads = [offered(facts, queue.thing) for queue in path.queues]
    if not all(load is not None and load.names == (workload.name,) and not load.unstated for load in loads):
        return path
    caps = in_flight_limits(facts.design, {workload.name, f"{workload.name}.requests"})
    cap = min(caps, key=lambda own: own[1].high, default=None)
    room = cap[1].high if cap is not None else None
    time = path.served + longest_wait(path.queues, room)
    if time >= path.time:
        return path
    needs = f"how many of {workload.name} wait at each queue when a request comes to it"
    shorter = replace(path, time=time, open=path.open or needs, cap=cap)
    return shorter if room is None else _within_room(facts, workload, shorter, room)


def _within_room(facts: DesignFacts, workload: Workload, path: QueuePath, room: Fraction) -> QueuePath:
    """Returns the path with queues of no more than are in flight, where none of these has been left by its caller.

    As it is where calls are made at once, or without an order: its queues are not all that a request passes.
    """
    if path.beside:
        return path
    queues = tuple(
        replace(queue, most=most, wait=min(queue.wait, most / queue.rate))
        for queue, most in ((own, min(own.most, room)) for own in path.queues)
    )
    if path.most is None:
        return path
    most = path.most - sum((own.longest - few.longest for own, few in zip(path.queues, queues, strict=True)), ZERO)
    in_time = workload.deadline is not None and most <= workload.deadline.low
    if most >= path.most or not in_time or not _once(facts, workload, path):
        return path
    return replace(path, queues=queues, most=most)


def _once(facts: DesignFacts, workload: Workload, path: QueuePath) -> bool:
    """Decides whether a request has one try in each queue, which its caller does not leave before its deadline."""
    for queue in path.queues:
        calls = [call for call in facts.design.calls if str(call.callee) == queue.thing]
        own = all(str(call.caller) == workload.name and call.hedge_after is None for call in calls)
        if len(calls) != 1 or not own or retry_policy_of(calls[0]).limit is not None:
            return False
    return True


def _ends(facts: DesignFacts, workload: Workload, deadline: Quantity, path: QueuePath) -> Finding:
    """Returns the proof that requests end with the fewest members that they may find, or what it lacks."""
    from coherence.verify.patterns.placement._full_queues import held_up

    twice = worked_apart(facts, workload, path)
    path = replace(path, most=None, open=twice) if twice else path
    held = [*held_up(facts, (workload.name, *(queue.thing for queue in path.every)))]
    places, of = _places(workload, deadline, path), _of(workload, path)
    if held or path.most is None or path.most > deadline.low:
        needs = held[0] if held and path.most is not None and path.most <= deadline.low else path.open
        needs = needs or _shorter_services(path) or f"that the members of {path.queues[0].thing} do not begin at once"
        alone = replace(path, beside=())
        ends = f"requests of {workload.name} take {render_seconds(path.time)} of {render_seconds(deadline.low)}"
        return QUESTION.undecided(f"needs {needs}: without it {ends} where {_full(alone)}", places, of)
    most, path = path.most, replace(path, queues=_at_most(path.queues), beside=_at_most(path.beside))
    over = f"are answered or given up by {' or '.join(path.cut)}" if path.cut else "end"
    message = (
        f"requests of {workload.name} {over} within {render_seconds(most)} of {render_seconds(deadline.low)} "
        f"where {_full(path)} ({_waits(path)})"
    )
    claim = Certificate(claim=f"(<= {rational(most)} {rational(deadline.low)})").script()
    evidence = arithmetic(_numbers(path, most, deadline), certificate=claim)
    steady = (STEADY,) if any(queue.steady for queue in path.every) else ()
    return QUESTION.proved(message, places, of, evidence, assumptions=(*steady, *path.assumed))


def _at_most(queues: tuple[FullQueue, ...]) -> tuple[FullQueue, ...]:
    """Returns queues with the wait that their longest services make."""
    return tuple(queue if queue.steady else replace(queue, wait=queue.longest) for queue in queues)


def _shorter_services(path: QueuePath) -> str:
    """Returns what to ask where services may take longer than their mean."""
    slow = next((queue for queue in path.every if queue.slowest > queue.members / queue.rate), None)
    if slow is None:
        return ""
    return path.unclear or f"that services at {slow.thing} do not all take the longest, {render_seconds(slow.slowest)}"


def _full(path: QueuePath) -> str:
    full = len({queue.thing for queue in path.every})
    return f"{full} queues are full, each within its limit" if full > 1 else "its queue is full"


def _waits(path: QueuePath) -> str:
    listed = [
        ", ".join(f"{render_seconds(queue.wait)} at {queue.thing}" for queue in queues)
        for queues in (path.queues, path.beside) if queues
    ]  # fmt: skip
    return "; beside these ".join(listed)


def _of(workload: Workload, path: QueuePath) -> tuple[str, ...]:
    cap = [path.cap[0].name] if path.cap is not None else []
    return (workload.name, *(name for queue in path.every for name in (queue.thing, queue.limit.name)), *cap)


def _numbers(path: QueuePath, time: Fraction, deadline: Quantity) -> dict[str, tuple[Fraction, str]]:
    numbers = {f"wait at {queue.thing}": (queue.wait, "s") for queue in path.every}
    return numbers | {"together": (time, "s"), "deadline": (deadline.low, "s")}


def _places(workload: Workload, deadline: Quantity, path: QueuePath) -> tuple[Place, ...]:
    limits = (
        place_of(queue.limit.at_most, queue.limit).labelled(f"so many wait at {queue.thing}") for queue in path.every
    )
    caps = [path.cap[1].place.labelled(f"so many of {workload.name} at once")] if path.cap is not None else []
    return (deadline.place.labelled(f"{workload.name} waits no longer"), *limits, *caps)


def _conflict(subject: Subject, workload: Workload, deadline: Quantity, path: QueuePath) -> Finding:
    path = replace(path, beside=())
    alone = next((queue for queue in path.queues if queue.wait > deadline.low), None)
    message = (
        f"requests of {workload.name} take {render_seconds(path.time)} of {render_seconds(deadline.low)} where "
        f"{_full(path)} ({_waits(path)})"
    )
    if alone is not None:
        work = f"{render_seconds(alone.wait)} of work"
        message = (
            f"{alone.limit.name} lets {render_quantity(alone.most)} wait at {alone.thing}, {work}, and requests of "
            f"{workload.name} are given up after {render_seconds(deadline.low)}"
        )
    evidence = arithmetic(_numbers(path, path.time, deadline), witness=tuple(_witness(path, deadline)))
    return QUESTION.conflict(
        message, _places(workload, deadline, path), _of(workload, path), evidence, certain=False,
        assumptions=("queues are first come, first served, and full at one time",),
        repairs=_shorter(subject, path, deadline),
    )  # fmt: skip


def _witness(path: QueuePath, deadline: Quantity) -> Iterator[Step]:
    """Yields where a request is from queue to queue, until its deadline."""
    now = ZERO
    for queue in path.queues:
        if now <= deadline.low:
            yield Step(now, f"the request is the last that {queue.limit.name} lets into the queue of {queue.thing}")
        now += queue.wait
    yield Step(deadline.low, f"its deadline has passed; all waits together take {render_seconds(now)}")


def _shorter(subject: Subject, path: QueuePath, deadline: Quantity) -> Iterator[Repair]:
    """Yields limits that are shorter in one proportion, so that the deadline holds."""
    waits, spare = sum((queue.wait for queue in path.queues), ZERO), deadline.low - path.served
    if spare <= 0 or not waits:
        return
    edits = [
        repairs.change(subject, queue.limit.at_most, int(queue.most * spare / waits / queue.members) * queue.members)
        for queue in path.queues
        if isinstance(queue.limit.at_most, Quantity)
    ]
    repair = repairs.proposal(*edits) if len(edits) == len(path.queues) else None
    yield from [repair] if repair is not None else []
