"""Finds what one member of a thing serves, and one of the requests that it works on at once."""

from __future__ import annotations

from dataclasses import replace

from coherence.base.places import Place
from coherence.language.entries.member_slots import ALONE, MemberSlots, member_slots
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import place_of
from coherence.verify.queues.offered_load import OfferedRate, each_serves, offered


def server_rate(facts: DesignFacts, thing: str) -> OfferedRate | None:
    """Returns requests per second of one server, as a range: a member, or one of the requests that it works on at once.

    Open where a longest service makes it serve more.
    """
    service = each_serves(facts, thing)
    if service is None:
        return None
    quantity, is_rate = service
    low, high = (quantity.low, quantity.high) if is_rate else (1 / quantity.high, 1 / quantity.low)
    rate = OfferedRate(low, high, high, (quantity.place.labelled("one member serves this"),))
    cut = _longest_service(facts, thing)
    if cut is None:
        return rate
    places = (*rate.places, cut.place.labelled("nothing takes longer"))
    return replace(rate, places=places, open=f"the mean of the services that `max: {cut}` cuts")


def _longest_service(facts: DesignFacts, thing: str) -> Quantity | None:
    """Returns the `max` that cuts the services of one member, where the mean of what it leaves is not their mean."""
    from coherence.verify.queues.service_means import longest_service_of

    load, served = offered(facts, thing), each_serves(facts, thing)
    if load is None or not load.names or served is None or served[1]:
        return None  # a rate, or a time of the thing itself
    return longest_service_of(facts.design.workload[load.names[0]])


def servers_of_member(facts: DesignFacts, thing: str) -> MemberSlots:
    """Returns how many requests a member works on at once where their time is stated; a rate is that of all of them."""
    service = each_serves(facts, thing)
    slots = member_slots(facts.design, thing)
    return ALONE if slots is None or (service is not None and service[1]) else slots


def member_rate(facts: DesignFacts, thing: str) -> OfferedRate | None:
    """Returns requests per second of one member, as a range; open where a longest service makes it serve more."""
    rate, slots = server_rate(facts, thing), servers_of_member(facts, thing)
    if rate is None:
        return None
    places = (*rate.places, *slots_places(slots))
    return replace(
        rate, low=rate.low * slots.low, high=rate.high * slots.high, peak=rate.peak * slots.high, places=places
    )


def slots_places(slots: MemberSlots) -> tuple[Place, ...]:
    """Returns where it stands how many requests a member works on at once."""
    return tuple(place_of(limit.at_most, limit).labelled("so many at once in each member") for limit in slots.limits)
