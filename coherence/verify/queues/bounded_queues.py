"""Finds how many requests may wait at a thing, and how long who waits there has patience."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from coherence.language.design import Call, Limit
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import cap
from coherence.verify.queues.let_through import HELD_BACK, places_in_queue
from coherence.verify.queues.loaded_things import LoadedThing

WAITING = STATES["waiting"]


def queue_bounds(facts: DesignFacts, station: LoadedThing) -> Iterator[tuple[Limit, Fraction]]:
    """Yields the limits that reject what waits at a thing, with how many they let wait."""
    for word in HELD_BACK if station.fewest else WAITING:
        for limit in facts.counted.get(f"{station.thing}.{word}", ()):
            tree = cap(facts, limit) if limit.rejects else None
            most = facts.range(tree).high if tree is not None else None
            if most is not None:
                yield limit, places_in_queue(limit, most, station.fewest * station.each.low)


def least_bounds(bounds: Iterable[tuple[Limit, Fraction]]) -> list[tuple[Limit, Fraction]]:
    """Returns those of several bounds of one queue that let fewest wait: any of them turns away who comes."""
    every = list(bounds)
    return [bound for bound in every if bound[1] == min(most for _, most in every)]


def waiters(facts: DesignFacts, station: LoadedThing) -> Iterator[tuple[str, Quantity]]:
    """Yields the calls of a thing and the workloads that reach it, with how long they wait.

    Not a workload that waits as long as one of its calls there or longer: what holds of the call holds of it.
    """
    waits = {call: _patience(call) for call in facts.design.calls}
    direct = {c: q for c, q in waits.items() if c.callee is not None and c.callee.text == station.thing}
    yield from ((call.name, patience) for call, patience in direct.items() if patience is not None)
    for name in station.demand.names:
        workload = facts.design.workload.get(name)
        own = [q for c, q in direct.items() if c.caller is not None and c.caller.text == name]
        deadline = workload.deadline if workload is not None else None
        if deadline is not None and not any(q is not None and q.low <= deadline.low for q in own):
            yield name, deadline


def _patience(call: Call) -> Quantity | None:
    """Returns how long the caller waits for one answer."""
    stated = [q for q in (call.per_try, call.deadline) if isinstance(q, Quantity)]
    return min(stated, key=lambda q: q.low) if stated else None
