"""Finds what is asked of a thing, how many members it may have and how many of them limits let work at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.design import Limit
from coherence.language.entries.member_slots import ALONE, MemberSlots, closing
from coherence.language.limit_units import is_counted_by_loops
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.model.model import Interval
from coherence.verify.calls.claims import Numbers
from coherence.verify.facts.design_facts import DesignFacts, copies, scaling
from coherence.verify.facts.limits import in_flight_limits, perhaps_in_flight
from coherence.verify.facts.ranges import point
from coherence.verify.facts.writers import Writer
from coherence.verify.queues.member_rates import server_rate, servers_of_member, slots_places
from coherence.verify.queues.offered_load import OfferedRate, each_serves, offered, own_time


@dataclass(frozen=True)
class LoadedThing:
    """A thing with what is asked of it, what one server serves, and the fewest and most servers it may have.

    A server is a member, or one of the requests that each of them works on at once (`at_once`).  `given`: the most that
    loops may give it, which may be fewer than it begins with.  `assumed`: what a proof takes for granted of the time of
    a request.  `lacks_slots`: nothing says how many of them a member works on at once.  `ranged`: the mean of `each`
    alone is open, within its ends.  `behind`: what requests wait for, on whose times a proof stands.
    """

    thing: str
    demand: OfferedRate
    each: OfferedRate
    few: int
    many: int
    given: int
    scaled: bool
    slots: tuple[Limit, Quantity] | None = None  # a limit of requests in flight that lets fewer members work
    perhaps: tuple[Limit, Quantity | None] | None = None  # one that may do so: at times, in places, by no number
    at_once: MemberSlots = ALONE
    assumed: tuple[str, ...] = ()
    lacks_slots: bool = False
    ranged: bool = False
    behind: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[int, int]:
        """Returns the fewest members and the most that loops may give, whatever each works on at once."""
        return math.ceil(self.few / self.at_once.low), math.floor(self.given / self.at_once.high)

    @property
    def working(self) -> Fraction:
        """Returns how many servers work at once for certain, with all that it may be given."""
        members = Fraction(self.given if self.scaled else self.few)
        return min(members, self.slots[1].low) if self.slots is not None else members

    @property
    def fewest(self) -> Fraction:
        """Returns how many members work at once where loops give it no more than it has for certain."""
        return replace(self, scaled=False).working

    @property
    def capacity(self) -> Fraction:
        """Returns what it serves for certain."""
        return self.working * self.each.low

    @property
    def least(self) -> Fraction:
        """Returns what it serves even where the limit that perhaps lets fewer members work does so."""
        if self.perhaps is None:
            return self.capacity
        stated = self.perhaps[1]
        return min(self.working, stated.low if stated is not None else Fraction(0)) * self.each.low

    @property
    def most(self) -> Fraction:
        members = Fraction(self.many)
        return (min(members, self.slots[1].high) if self.slots is not None else members) * self.each.high

    @property
    def numbers(self) -> Numbers:
        server, servers = ("one request at a time", "at once") if self.at_once.limits else ("one member", "members")
        return {
            "asked": (self.demand.high, "req/s"), server: (self.each.low, "req/s"),
            servers: (self.working, ""), "capacity": (self.capacity, "req/s"),
        }  # fmt: skip


def station_of(facts: DesignFacts, thing: str) -> LoadedThing | None:
    """Returns a thing with its load and what its members serve; None where the design does not say, or a limit lets no
    member work on a request.
    """
    from coherence.verify.queues.mixed_service import mixed_rate

    if closing(facts.design, thing) is not None:
        return None

    each = server_rate(facts, thing)
    each = mixed_rate(facts, thing) if each is None else each
    if each is None:
        return None
    station = loaded_thing(facts, thing, each)
    if station is None or station.demand.low >= station.many * each.high:
        return station
    open_ = _mean(facts, thing, station.demand)
    ranged = bool(open_) and not each.open
    return replace(station, each=replace(station.each, open=each.open or open_), ranged=ranged)


def loaded_thing(facts: DesignFacts, thing: str, each: OfferedRate) -> LoadedThing | None:
    """Returns a thing of which one server serves a rate; None where its load or its members are not stated."""
    demand, members, slots = offered(facts, thing), copies(facts, thing), servers_of_member(facts, thing)
    if members is None and slots.limits and not is_counted_by_loops(facts.design, thing):
        members = point(1)  # what is said to be there is so many at once
    if demand is None or members is None or members.low is None or members.high is None:
        return None
    given = [most for writer in scaling(facts, thing) if (most := _most_given(facts, writer, members)) is not None]
    few, many = math.ceil(members.low), math.floor(members.high)
    if many < 1:
        return None
    top = max(few, min(many, math.floor(max(given)))) if given else many
    few, many, top = math.floor(few * slots.low), math.floor(many * slots.high), math.floor(top * slots.high)
    each = replace(each, places=(*each.places, *slots_places(slots)))
    return _with_slots(facts, LoadedThing(thing, demand, each, few, many, top, bool(given), at_once=slots))


def _mean(facts: DesignFacts, thing: str, load: OfferedRate) -> str:
    """Returns what to ask where only a range of the time of a request is said, and no mean."""
    service, time = each_serves(facts, thing), own_time(facts, thing)
    if time is None or time.exact or service is None or service[0] is not time:
        return ""
    from coherence.verify.queues.service_means import mean_time

    return mean_time(thing, time, load.names[0] if load.names else "its workload")


def is_raised(facts: DesignFacts, thing: str, members: Interval) -> bool:
    """Decides whether some loop may give a thing a member."""
    return any((_most_given(facts, writer, members) or 0) >= 1 for writer in scaling(facts, thing))


def _most_given(facts: DesignFacts, writer: Writer, members: Interval) -> Fraction | None:
    """Returns the most members that a loop may give a thing of so many; None of one that only takes some away."""
    actuation, highest = writer.loop.actuation, members.high if writer.values.high is None else writer.values.high
    if actuation is None or highest is None or writer.kind in ("unset", "ignore"):
        return None
    changes = writer.loop.rules or (actuation,)
    if writer.kind == "scale" or any(_raises(change.by) for change in changes):
        return highest
    levels = [change.to for change in changes if change.to is not None]
    tops = [
        to.high if isinstance(to, Quantity) else facts.range(to.tree).high for to in levels if not isinstance(to, Word)
    ]
    return max((highest if top is None else writer.values.clip(top) for top in tops), default=None)


def _raises(by: Quantity | Formula | None) -> bool:
    return by is not None and not (isinstance(by, Quantity) and by.high <= 0)


def _with_slots(facts: DesignFacts, station: LoadedThing) -> LoadedThing:
    """Returns a thing with the least limit of requests in flight there, or from its only workload, that stops some
    members: what does so for certain, and what may.

    A member serves one at a time where its service time is stated; where a rate is stated, it is what it serves, and
    of one that works on none it is nothing.
    """
    service = each_serves(facts, station.thing)
    rated = service is not None and service[1]
    heads = (station.thing, *(station.demand.names if len(station.demand.names) == 1 else ()))
    counted = {text for head in heads for text in (head, f"{head}.requests")}
    sure = [pair for pair in in_flight_limits(facts.design, counted) if pair[1].low < station.many]
    slots = min(sure, key=lambda pair: pair[1].low, default=None)
    if rated:
        return replace(station, slots=slots)
    most = slots[1].low if slots is not None else Fraction(station.many)
    every = [pair for pair in perhaps_in_flight(facts.design, counted) if pair[1] is None or pair[1].low < most]
    every = [pair for pair in every if not _one_of_each(station.thing, *pair)]
    perhaps = min(every, key=lambda pair: pair[1].low if pair[1] is not None else Fraction(0), default=None)
    return replace(station, slots=slots, perhaps=perhaps)


def _one_of_each(thing: str, limit: Limit, most: Quantity | None) -> bool:
    """Decides whether there is one of a limit for each member of a thing, which it lets serve one request at least."""
    return limit.per is not None and limit.per.text == thing and most is not None and most.low >= 1
