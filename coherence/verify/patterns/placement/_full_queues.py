"""The queues of things where they are full: what bounds one, and how long the last in several of them waits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.calls import Call
from coherence.language.design import Limit
from coherence.language.expressions import names as names_of
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.limits import always_holds, cap, counted_in_flight
from coherence.verify.queues.loaded_things import LoadedThing
from coherence.verify.queues.member_rates import servers_of_member
from coherence.verify.queues.offered_load import each_serves

ZERO = Fraction(0)


@dataclass(frozen=True)
class FullQueue:
    """A thing on a path with its limit on what waits, how many that are, at which rate, how long, by which `slowest`
    service (s).
    """

    thing: str
    limit: Limit
    most: Fraction
    members: Fraction
    rate: Fraction
    wait: Fraction
    slowest: Fraction

    @property
    def steady(self) -> bool:
        """Decides whether the longest service is what the rate says of each."""
        return self.slowest == self.members / self.rate

    @property
    def longest(self) -> Fraction:
        """Returns how long the last of the queue waits at most: by whole services, each of them the longest."""
        return math.ceil(self.most / self.members) * self.slowest


def longest_wait(queues: Sequence[FullQueue], room: Fraction | None) -> Fraction:
    """Returns how long the last of full queues waits in all of them, where nobody else comes to any of these.

    What leaves one comes to the next: a queue that is served faster than the one before it grows shorter meanwhile.  No
    more than `room` wait in all, and the slowest are filled first; queues at the beginning may be empty.
    """
    filled = _filled(queues, room)
    return max((_waits(filled[number:]) for number in range(len(filled))), default=ZERO)


def _filled(queues: Sequence[FullQueue], room: Fraction | None) -> list[FullQueue]:
    left, filled = room, list(queues)
    for number in sorted(range(len(queues)), key=lambda n: queues[n].rate):
        most = queues[number].most if left is None else min(left, queues[number].most)
        filled[number] = replace(queues[number], most=most)
        left = None if left is None else left - most
    return filled


def _waits(queues: Sequence[FullQueue]) -> Fraction:
    elapsed, coming = ZERO, None
    for queue in queues:
        slower = queue.rate - coming if coming is not None and coming < queue.rate else ZERO
        elapsed += min(queue.wait, max(ZERO, queue.most - slower * elapsed) / queue.rate)
        coming = queue.rate if coming is None else min(coming, queue.rate)
    return elapsed


def waiting_limits(facts: DesignFacts, thing: str, rate: Fraction) -> Iterator[tuple[Limit, Fraction]]:
    """Yields the limits on what waits at a thing, which serves `rate` (1/s), at every time, with how many may wait."""
    from coherence.verify.queues.let_through import HELD_BACK, places_in_queue

    for limit in facts.design.limits.values():
        own = [path for word in HELD_BACK if limit in facts.counted.get(path := f"{thing}.{word}", ())]
        own += [path for path in [counted_in_flight(limit)] if path in (thing, f"{thing}.requests") and limit.rejects]
        plain = limit.window is None and not limit.actions and limit.scope is None and always_holds(limit)
        tree = cap(facts, limit) if own and plain else None
        most = facts.range(tree).high if tree is not None else None
        yield from [(limit, places_in_queue(limit, most, rate))] if most is not None else []


def room_at(facts: DesignFacts, thing: str) -> Fraction | None:
    """Returns how many can be at a thing at once, by what its callers hold meanwhile; None where nothing says so.

    A workload has requests in flight, a thing its members, each of which has one call there, and none that goes on for
    nobody.
    """
    calls = [call for call in facts.design.calls if str(call.callee) == thing]
    rooms = [_held_by(facts, call, thing) for call in calls]
    stated = [room for room in rooms if room is not None]
    once = len({str(call.caller) for call in calls}) == len(calls) == len(stated)
    return sum(stated, ZERO) if once else None


def _held_by(facts: DesignFacts, call: Call, thing: str) -> Fraction | None:
    from coherence.verify.patterns.placement._held_members import holds_one, least_in_flight

    workload = facts.design.workload.get(str(call.caller))
    if workload is not None:
        least = least_in_flight(facts.design, workload, thing)
        return least[1].high if least is not None else None
    members = copies(facts, str(call.caller)) if holds_one(None, call) else None
    return members.high if members is not None else None


def cancelled_above(facts: DesignFacts, thing: str) -> tuple[str, ...]:
    """Returns the calls that may be cancelled while members of what calls a thing wait for it, in their order."""
    design = facts.design
    callers = {str(call.caller) for call in design.calls if str(call.callee) == thing}.intersection(design.components)
    leaving = {name for name, workload in design.workload.items() if workload.deadline is not None}
    return tuple(
        plan.name
        for plan in call_tree(design).above(callers)
        if not plan.call.abandons and (plan.limit is not None or plan.caller in leaving)
    )


def slowest_service(facts: DesignFacts, station: LoadedThing) -> tuple[Fraction, str]:
    """Returns the longest service of a member (s), and what to ask where it is drawn from a law without an end."""
    from coherence.verify.queues.mixed_service import mixed_rate
    from coherence.verify.queues.service_means import longest_time

    each, mean = each_serves(facts, station.thing), 1 / station.each.low
    by_time = not each[1] if each is not None else mixed_rate(facts, station.thing) is not None
    workloads = [facts.design.workload[name] for name in station.demand.names if name in facts.design.workload]
    served = [workload for workload in workloads if by_time and workload.service is not None]
    ends = {workload.name: longest_time(workload) for workload in served}
    endless = " and ".join(name for name, end in ends.items() if end is None)
    if endless:
        return mean, f"the longest service of {endless} (`service: {{max: ...}}`)"
    return max((end.high for end in ends.values() if end is not None), default=mean), ""


def held_up(facts: DesignFacts, names: Iterable[str]) -> Iterator[str]:
    """Yields limits that make requests of one of these names wait before they come to a queue."""
    heads = set(names)
    served = {slot.name for name in heads for slot in servers_of_member(facts, name).limits}  # each is a server
    for limit in facts.design.limits.values():
        counted = names_of(limit.counts.tree) if limit.counts is not None and not limit.rejects else ()
        if (
            limit.at_most is not None
            and limit.name not in served
            and heads & {path.partition(".")[0] for path in counted}
        ):
            yield f"how long requests wait for {limit.name}"
