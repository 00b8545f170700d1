"""Bounds how many members of a thing the requests of a workload hold at once, and counts those that work at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.calls import Call
from coherence.language.design import Design, Limit
from coherence.language.entries.member_slots import RUNNING, member_slots
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.limits import in_flight_limits
from coherence.verify.timers.removals import Departure


@dataclass(frozen=True)
class MemberCount:
    """How many members of a thing work at once: `few` for certain, `many` at most, by a limit of those in flight too.

    `gone`: what takes every member away some day; `assumed`: what the count takes for granted besides.
    """

    few: Fraction
    many: Fraction
    slots: tuple[Limit, Quantity] | None = None
    gone: Departure | None = None
    assumed: tuple[str, ...] = ()

    @property
    def of(self) -> tuple[str, ...]:
        """Returns the names of what bounds the count."""
        return (*([self.slots[0].name] if self.slots else []), *([self.gone.name] if self.gone else []))

    @property
    def places(self) -> tuple[Place, ...]:
        """Returns where what bounds the count stands."""
        slots = [self.slots[1].place.labelled("so many are served at once")] if self.slots else []
        return (*slots, *([self.gone.place.labelled("takes members away")] if self.gone else []))


def member_count(facts: DesignFacts, thing: str) -> MemberCount | None:
    """Returns how many members of a thing work at once; None where the design does not say."""
    from coherence.verify.jobs.losses import members_left

    members = copies(facts, thing)
    if members is None or members.low is None or members.high is None:
        return None
    counted, own = {thing, f"{thing}.requests"}, member_slots(facts.design, thing)
    running = [
        (limit, limit.at_most)
        for word in RUNNING for limit in facts.counted.get(f"{thing}.{word}", ())
        if own is None and isinstance(limit.at_most, Quantity)
    ]  # fmt: skip
    few, many = (members.low * own.low, members.high * own.high) if own is not None else (members.low, members.high)
    least = min((*in_flight_limits(facts.design, counted), *running), key=lambda pair: pair[1].low, default=None)
    slots = least if least is not None and least[1].low < many else None
    few = few if slots is None else min(few, slots[1].low)
    many = many if slots is None else min(many, slots[1].high)
    return MemberCount(few, many, slots, *members_left(facts, thing))


def least_in_flight(design: Design, workload: Workload, thing: str) -> tuple[Limit, Quantity] | None:
    """Returns the least limit on requests of a workload in flight, where each of them holds one member of a thing.

    None also where a request may hold several: by several calls, second copies, or tries that go on for nobody.
    """
    calls = [call for call in design.calls if (str(call.caller), str(call.callee)) == (workload.name, thing)]
    if len(calls) != 1 or not holds_one(workload, calls[0]):
        return None
    counted = {workload.name, f"{workload.name}.requests", calls[0].name}
    return min(in_flight_limits(design, counted), key=lambda pair: pair[1].high, default=None)


def holds_one(workload: Workload | None, call: Call) -> bool:
    """Decides whether there is one try of a call at a time, and none that its caller has left."""
    patience = workload.deadline if workload is not None else None
    ended = any(limit is not None for limit in (patience, call.deadline, call.per_try))
    return call.hedge_after is None and (call.cancels or not ended)
