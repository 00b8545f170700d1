"""Finds the queues that a request passes, and how long they keep it where all of them are full.

Stages follow one another; of calls without an order, which may be made at once, the longest counts.  A caller waits no
longer than its limit.  What is stated as a range stands at its worse end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_quantity, render_seconds
from coherence.language.calls import Call
from coherence.language.design import Limit
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import around
from coherence.language.workloads import Workload
from coherence.model.routes import transfers, transit
from coherence.verify.calls.call_graph import CANCELS
from coherence.verify.calls.retry_policies import longest_end, retry_policy_of
from coherence.verify.facts.design_facts import DesignFacts, scalers
from coherence.verify.queues.loaded_things import LoadedThing, station_of
from coherence.verify.queues.offered_load import each_serves, offered

if TYPE_CHECKING:
    from coherence.verify.patterns.placement._full_queues import FullQueue
    from coherence.verify.patterns.placement._held_members import MemberCount

ZERO = Fraction(0)
MOST_QUEUES = 1000  # of a path: stages that call the same things again and again double it


@dataclass(frozen=True)
class QueuePath:
    """The queues that a request passes, how long it is served on the way, and the time of both as far as it is stated.

    `most`: the longest time; None where nothing bounds it.  `open`: what would say that it is no longer than `time`.
    `assumed`: what `most` takes for granted.  `cap`: a limit on requests in flight that keeps queues shorter.  `cut`:
    the calls that give up where it takes longer than their limit.  `beside`: the queues of calls made at once with
    these, or in an order that nothing states: they count in `most` alone.
    `unclear`: what would say that it takes `time`.
    """

    queues: tuple[FullQueue, ...] = ()
    served: Fraction = ZERO
    time: Fraction = ZERO
    most: Fraction | None = ZERO
    open: str = ""
    assumed: tuple[str, ...] = ()
    cap: tuple[Limit, Quantity] | None = None
    cut: tuple[str, ...] = ()
    beside: tuple[FullQueue, ...] = ()
    unclear: str = ""

    @property
    def every(self) -> tuple[FullQueue, ...]:
        """Returns all queues that a request may pass, those that count in the longest time alone as well."""
        return (*self.queues, *self.beside)

    def then(self, other: QueuePath) -> QueuePath:
        """Returns this path and another one after it."""
        return QueuePath(
            (*self.queues, *other.queues), self.served + other.served, self.time + other.time,
            None if self.most is None or other.most is None else self.most + other.most,
            first_open((self, other)), tuple(dict.fromkeys((*self.assumed, *other.assumed))),
            cut=tuple(dict.fromkeys((*self.cut, *other.cut))), beside=(*self.beside, *other.beside),
            unclear=self.unclear or other.unclear,
        )  # fmt: skip

    def within(self, end: Fraction, call: str) -> QueuePath:
        """Returns the path for a call that waits no longer than this: what it has left by then keeps it no more."""
        queues: list[FullQueue] = []
        left = end
        for queue in self.queues:
            queues += [replace(queue, wait=min(queue.wait, left))] if left or not queues else []
            left = max(ZERO, left - queue.wait)
        beside = tuple(replace(queue, wait=min(queue.wait, end)) for queue in self.beside)
        most = end if self.most is None else min(self.most, end)
        cut = (call,) if self.most is None or self.most > end else self.cut
        return replace(self, queues=tuple(queues), time=min(self.time, end), most=most, cut=cut, beside=beside)


def first_open(parts: Iterable[QueuePath]) -> str:
    """Returns what to ask of paths: first of those that nothing bounds."""
    return next((part.open for part in sorted(parts, key=lambda part: part.most is not None) if part.open), "")


def unbounded(needs: str, time: Fraction = ZERO) -> QueuePath:
    """Returns a path without queues that takes at least so long, and no longer where something is said."""
    return QueuePath((), time, time, None, needs)


class CallPaths:
    """The longest path behind each thing that calls others, computed once for all that call it.

    With all members that loops may give a thing, or (`fewest`) with those alone that it has for certain.
    """

    def __init__(self, facts: DesignFacts, *, fewest: bool = False) -> None:
        self.facts, self.fewest = facts, fewest
        self.behind: dict[str, QueuePath | None] = {}
        self.calls: dict[str, list[Call]] = {}
        self.fallbacks: dict[str, str] = {}
        for call in facts.design.calls:
            if call.fallback_for is None:
                self.calls.setdefault(str(call.caller), []).append(call)
            else:
                self.fallbacks[str(call.caller)] = call.name

    def longest(self, thing: str) -> QueuePath | None:
        """Returns the longest path behind a thing; None where one comes back, is conditional or asked for too much."""
        if thing not in self.behind:
            self.behind[thing] = None  # while it is looked for: a path comes back
            self.behind[thing] = self._joined(thing)
        return self.behind[thing]

    def _joined(self, thing: str) -> QueuePath | None:
        other = self.fallbacks.get(thing)
        path = unbounded(f"when {other} is made") if other else QueuePath()
        for own in _stages(self.calls.get(thing, [])):
            parts = [self._of_call(call) for call in own]
            known_parts = [part for part in parts if part is not None]
            if len(known_parts) < len(parts) or len(path.queues) > MOST_QUEUES:
                return None
            path = path.then(_longest_of(thing, own, known_parts))
        return path

    def of_try(self, call: Call) -> QueuePath | None:
        """Returns the path behind one try of a call, however long its caller waits; None as of `longest`."""
        thing = str(call.callee)
        station = station_of(self.facts, thing)
        full = station is not None and station.demand.high >= station.capacity
        inner = None if call.cases or full else self.longest(thing)
        return None if inner is None else _under_way(self.facts, call).then(self._own(thing, station)).then(inner)

    def _of_call(self, call: Call) -> QueuePath | None:
        path, plan = self.of_try(call), retry_policy_of(call)
        if path is None:
            return None
        end = longest_end(plan)
        if plan.retries:
            again = f"a bound on {call.name}, which is tried again"
            path = replace(path, most=None, open=again if path.most is not None else path.open)
        return path if end is None else path.within(end, call.name)

    def _own(self, thing: str, station: LoadedThing | None) -> QueuePath:
        if station is None:
            return unbounded(f"what {thing} is asked for and serves")
        if not self.fewest or not station.scaled or station.few == station.many:
            return _queue_of(self.facts, station)
        loops = " and ".join(scalers(self.facts, thing))
        needs, fewer = f"how soon {loops} gives {thing} more than {station.members[0]}", replace(station, scaled=False)
        path = _queue_of(self.facts, fewer) if station.few else unbounded(needs)
        return replace(path, open=path.open or needs)


def _under_way(facts: DesignFacts, call: Call) -> QueuePath:
    """Returns how long a call and its answer are on links and across boundaries; what waits for a link has no bound."""
    design, caller = facts.design, str(call.caller)
    if caller not in design.components:
        delaying = [own.name for own in around(design, str(call.callee)) if own.call_delay is not None]
        return QueuePath(assumed=tuple(f"{caller} sends {call.name} from inside {name}" for name in delaying))
    _, alone, _ = transit(design, call)
    waits = any(sent.call is call and (sent.needs or sent.carries is not None) for sent in transfers(design))
    if waits:
        return unbounded(f"how long {call.name} waits for its links", alone)
    return QueuePath(served=alone, time=alone, most=alone)


def _longest_of(thing: str, calls: Sequence[Call], parts: Sequence[QueuePath]) -> QueuePath:
    """Returns the longest of calls at once; it takes the time of all, at most, where nothing says that they are so."""
    longest, mosts = max(parts, key=lambda part: part.time), [part.most for part in parts if part.most is not None]
    unordered = len(calls) > 1 and calls[0].stage is None
    order = f"the order of the calls of {thing} (`stage`)" if unordered else ""
    most = (sum(mosts, ZERO) if unordered else max(mosts)) if len(mosts) == len(parts) else None
    cut = tuple(dict.fromkeys(name for part in parts for name in part.cut))
    assumed = tuple(dict.fromkeys(words for part in parts for words in part.assumed))
    others = (queue for part in parts if part is not longest for queue in part.every)
    longest = replace(longest, beside=(*longest.beside, *others))
    unclear = next((part.unclear for part in parts if part.unclear), "")
    return replace(longest, most=most, open=order or first_open(parts), assumed=assumed, cut=cut, unclear=unclear)


def _stages(calls: Sequence[Call]) -> Iterable[list[Call]]:
    """Returns calls that are made at once together; where some have a stage, each without one is alone."""
    stages: dict[str, list[Call]] = {}
    ordered = any(call.stage is not None for call in calls)
    for number, call in enumerate(calls):
        alone = f" {number}" if ordered else ""
        stages.setdefault(call.stage.text if call.stage is not None else alone, []).append(call)
    return stages.values()


def _queue_of(facts: DesignFacts, station: LoadedThing) -> QueuePath:
    """Returns the queue of a thing and its service, as far as they are stated."""
    from coherence.verify.patterns.placement import _full_queues as full

    thing, (served, twice) = station.thing, _work(facts, station)
    discipline = facts.design.components[thing].discipline
    if discipline is not None and discipline.text != "fifo":
        return unbounded(f"the order in which {thing} serves (`{discipline.text}`)", served)
    limits = [*full.waiting_limits(facts, thing, station.capacity)]
    limit, most = min((own for own in limits if own[0].rejects), key=lambda own: own[1], default=(None, ZERO))
    if limit is None:
        return unbounded(f"a limit on {thing}.waiting that rejects", served)
    from coherence.verify.patterns.placement._held_members import member_count

    members, room = member_count(facts, thing), full.room_at(facts, thing)
    waiting = min(most, *(own for _, own in limits), *([room] if room is not None else []))
    wait = waiting / station.capacity
    slowest, endless = full.slowest_service(facts, station)
    open_ = twice or _fewer(facts, station, members) or endless
    queue = full.FullQueue(thing, limit, waiting, station.working, station.capacity, wait, slowest)
    longest = None if open_ else queue.longest + max(served, slowest)
    assumed = members.assumed if members is not None else ()
    held = room is not None and room < min(most, *(own for _, own in limits))
    assumed = (*assumed, *(CANCELS.format(name) for name in full.cancelled_above(facts, thing))) if held else assumed
    return QueuePath((queue,), served, wait + served, longest, open_, assumed, unclear=station.each.open)


def _fewer(facts: DesignFacts, station: LoadedThing, members: MemberCount | None) -> str:
    """Returns what to ask where something may leave fewer members, or have them serve less than they do together."""
    from coherence.verify.queues.stated_capacities import stated_capacity

    thing, whole = station.thing, stated_capacity(facts, station.thing)
    if members is not None and members.gone is not None:
        return f"how many of {thing} are gone at once ({members.gone.name})"
    if station.perhaps is not None:
        return f"where and when {station.perhaps[0].name} holds, which may let fewer of {thing} work"
    if members is not None and members.slots is not None and not members.slots[0].rejects:
        return f"what {thing} serves where {members.slots[0].name} lets {members.slots[1]} in"
    if whole is not None and whole[0] < station.capacity:
        return f"what {thing} serves: as a whole {render_quantity(whole[0])} req/s, its members more"
    return ""


def _work(facts: DesignFacts, station: LoadedThing) -> tuple[Fraction, str]:
    """Returns how long a thing works on a request, and what to ask where it takes longer than its rate says.

    A time that may contain that of its calls is counted with these.
    """
    thing, each = station.thing, 1 / station.each.low
    own = time_of(facts.design.components[thing], "answer")
    if own is None or own.high <= each:
        return each, ""
    twice = f"one time of a request at {thing}: its own is {own}, and what it serves is one in {render_seconds(each)}"
    calls_on = any(str(call.caller) == thing for call in facts.design.calls)
    return each if calls_on else own.high, twice


def worked_apart(facts: DesignFacts, workload: Workload, path: QueuePath) -> str:
    """Returns what to ask where a workload says how long its requests take, and what serves them says rates alone."""
    from coherence.verify.queues.mixed_service import mixed_rate
    from coherence.verify.queues.service_means import mean_service

    mean = mean_service(workload)
    if mean is None or mean.high <= min(queue.members / queue.rate for queue in path.every):
        return ""
    for thing in facts.design.components:
        load, each = offered(facts, thing), each_serves(facts, thing)
        by_time = not each[1] if each is not None else mixed_rate(facts, thing) is not None
        if load is not None and workload.name in load.names and by_time:
            return ""
    at = " and ".join(queue.thing for queue in path.every)
    return f"one time of a request: {workload.name} says {mean}, and {at} by what they serve another one"
