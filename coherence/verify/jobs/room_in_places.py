"""Decides whether places have room for one more member of a thing, under its rules and beside what others hold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from coherence.language.design import Component
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.jobs.capacity import Room
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placement import CERTAIN, NONE, placement
from coherence.verify.jobs.sites import cluster, crowded

MOST_MEMBERS = 300
PLACES = "places"


def room_in_places(facts: DesignFacts, component: Component, count: int) -> Room:
    """Returns the room in all places for one more, with `count` members there; what is not stated is missing.

    Rules may decide alone: where they let no choice of places reach one more, or leave one in every state.
    """
    try:
        there = cluster(facts, component.name, soft=False)
        held, _ = crowded(facts, there)
    except NeedsError as error:
        return Room(None, error.needs)
    rules = bool(there.musts) and count < MOST_MEMBERS
    if (there.full is None and not rules) or any(site.adder for site in there.sites):
        return Room(None, f"how many of {component.name} the places take")
    left, where = Fraction(1 if there.full is None else there.full - count), there.sites[0].place
    if left < 1 or (rules and placement(there, count + 1, count + 1).verdict == CERTAIN):
        return Room(False, "", PLACES, Fraction(0), Fraction(1), place=where)
    if held or (there.musts and not (rules and placement(there, count, count + 1).verdict == NONE)):
        return Room(None, f"which place takes one more of {component.name}")
    return Room(True, "", PLACES, left, Fraction(1), place=where)


def fewer_fit(facts: DesignFacts, component: Component, count: int, numbers: Mapping[str, int]) -> bool:
    """Decides whether fewer than so many members fit, however they are led, on so many places of each entry."""
    try:
        there = cluster(facts, component.name, numbers=numbers, soft=False)
    except NeedsError:
        return not any(numbers.get(name, 1) for name in facts.design.places)
    if any(site.adder for site in there.sites):
        return False
    if there.full is not None and there.full < count:
        return True
    return bool(there.musts) and 0 < count <= MOST_MEMBERS and placement(there, count, count).verdict == CERTAIN


def rules_for(facts: DesignFacts, component: Component) -> bool:
    """Decides whether rules that must be kept say where members of a thing may lie."""
    return any(rule.must for rule in facts.design.placement.get(component.name, ()))
