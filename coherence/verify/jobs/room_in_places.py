"""Decides whether places have room for one more member of a thing, under its rules and beside what others hold."""

from __future__ import annotations

from fractions import Fraction

from coherence.language.design import Component
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.jobs.capacity import Room
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placement import CERTAIN, placement
from coherence.verify.jobs.sites import Cluster, cluster, crowded

MOST_MEMBERS = 300


def room_in_places(facts: DesignFacts, component: Component, count: int) -> Room:
    """Returns the room in all places for one more, with `count` members there; what is not stated is missing."""
    try:
        there = cluster(facts, component.name, soft=False)
        held, _ = crowded(facts, there)
    except NeedsError as error:
        return Room(None, error.needs)
    if there.full is None or any(site.adder for site in there.sites):
        return Room(None, f"how many of {component.name} the places take")
    left, where = Fraction(there.full - count), there.sites[0].place
    if left < 1 or _rules_forbid(there, count + 1):
        return Room(False, "", "places", Fraction(0), Fraction(1), place=where)
    if held or there.musts:
        return Room(None, f"which place takes one more of {component.name}")
    return Room(True, "", "places", left, Fraction(1), place=where)


def _rules_forbid(there: Cluster, members: int) -> bool:
    """Decides whether no choice of places reaches so many members."""
    return bool(there.musts) and members <= MOST_MEMBERS and placement(there, members, members).verdict == CERTAIN
