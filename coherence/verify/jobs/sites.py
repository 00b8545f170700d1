"""Reads places where members of a thing may be put, and its rules: nodes alike as one class, labels as domains.

Nodes matter one by one only where a rule counts by node; else the nodes of one domain are one place with their
room together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from coherence.base.places import Place
from coherence.language.design import Component, Design, Job, needed
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Admittance, Spread, Ties
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.members_that_stay import DRAINED, LOST, may_go
from coherence.verify.jobs.job_kinds import ALONE, TOGETHER, WAITING
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.selectors import EXCLUDED, NODE_WORDS, OPEN, admissions_of, text_of

MOST_NODES = 500
ROOM = "nothing else takes room on these places"
ADDED = "places are added when a member finds none, and not otherwise"


@dataclass(frozen=True)
class Site:
    """`number` nodes alike (up to `most`, where a loop adds some): their labels, and the members that fit on each."""

    name: str
    labels: Mapping[str, str]
    number: int
    most: int
    room: int | None
    place: Place = field(compare=False)
    counted: Quantity | None = field(default=None, compare=False)
    adder: str = ""
    goes: tuple[str, ...] = ()  # in which ways some of them may go, with how many at once


@dataclass(frozen=True)
class Cluster:
    """Classes of nodes for one thing and its rules; `each` = nodes count one by one."""

    thing: str
    sites: tuple[Site, ...]
    rules: tuple[Spread, ...]
    each: bool
    full: int | None  # members that fit in all
    alike: tuple[tuple[tuple[int, ...], ...], ...] = ()  # groups of domains alike: their classes, in matching order

    chosen: tuple[tuple[str, int], ...] = ()  # numbers of places other than the stated ones
    likes: tuple[Admittance, ...] = ()  # places that are preferred for what they are
    may_go: bool = False  # some places may go away
    random: bool = False  # of equal places the placer takes any, each with some chance
    summed: bool = True  # the placer adds up what its preferences exceed; else it may weigh them in any way

    @cached_property
    def domains(self) -> Mapping[str, tuple[str, ...]]:
        """Returns the domain of each class by each label; states are many, and have the same."""
        labels = self.sites[0].labels if self.sites else ()
        return {label: tuple(site.labels[label] for site in self.sites) for label in labels}

    @property
    def musts(self) -> tuple[Spread, ...]:
        return tuple(rule for rule in self.rules if rule.must)

    @property
    def wishes(self) -> tuple[Spread, ...]:
        return tuple(rule for rule in self.rules if not rule.must)

    @property
    def weighed(self) -> bool:
        """Decides whether the design says what each of several preferences counts."""
        soft: list[Spread | Admittance] = [*self.wishes, *self.likes]
        return len(soft) < 2 or all(rule.weight is not None for rule in soft)

    @property
    def nodes(self) -> int:
        """Returns the places that count one by one."""
        return sum(site.number for site in self.sites)

    @property
    def places_text(self) -> str:
        """Returns how many places there are, in words: `3 places`, or `2 places by zone`."""
        labels = dict.fromkeys(label for site in self.sites for label in site.labels)
        kind = f" by {' and '.join(labels)}" if labels and not self.each else ""
        return f"{self.nodes} place{'s' if self.nodes != 1 else ''}{kind}"


def cluster(
    facts: DesignFacts,
    thing: str,
    *,
    by: tuple[str, ...] = (),
    numbers: Mapping[str, int] | None = None,
    soft: bool = True,
) -> Cluster:
    """Returns the places of a thing under its rules; `by`: further labels that matter, `numbers`: other counts.

    Without `soft` only the musts matter, so that places that differ for a preference alone are alike.

    Raises NeedsError where a label, a count or a largest difference is not stated.
    """
    stated = [rule for rule in facts.design.placement.get(thing, ()) if soft or rule.must]
    rules = tuple(rule for rule in stated if isinstance(rule, Spread))
    likes = tuple(rule for rule in stated if isinstance(rule, Admittance) and not rule.must)
    random = any(isinstance(rule, Ties) and rule.at_random for rule in stated)
    for rule in rules:
        if not rule.together and not rule.stated:
            raise NeedsError(f"the largest difference that `{rule.by}` allows (spread by {rule.by} <= 1)", rule.place)
    words = tuple(dict.fromkeys((*(rule.by for rule in rules), *(like.by for like in likes), *by)))
    sites = _selected(facts, thing, numbers or {}, words)
    labels = tuple(word for word in words if _is_label(facts, sites, word))
    each = len(labels) < len(words)
    unlabelled = next((like for like in likes if like.by not in labels), None)
    if unlabelled is not None:
        raise NeedsError(f"a label by which {thing} prefers places (`prefer on zone a`)", unlabelled.place)
    merged = tuple(_merged([_labelled(facts, site, labels) for site in sites], each=each))
    rooms = [site.room * site.most if site.room is not None else None for site in merged]
    full = None if None in rooms else sum(room for room in rooms if room is not None)
    alike = () if likes else _alike(merged)
    return Cluster(
        thing, merged, rules, each, full, alike, tuple((numbers or {}).items()), likes, may_go(facts.design), random
    )


def without(there: Cluster, k: int, nodes: tuple[int, ...], *, drained: bool) -> Cluster:
    """Returns the cluster after some nodes of a class went: away, or (drained) with no room, as the last class."""
    site, number = there.sites[k], len(nodes)
    names = site.name.split(", ")
    single = len(names) == site.number
    left = [name for n, name in enumerate(names) if not (single and n in nodes)]
    gone = [name for n, name in enumerate(names) if not single or n in nodes]
    rest = replace(site, name=", ".join(left), number=site.number - number, most=site.most - number)
    sites = [*there.sites[:k], *([rest] if rest.number else []), *there.sites[k + 1 :]]
    if drained:
        drained_names = ", ".join(f"{name} (drained)" for name in gone)
        sites.append(replace(site, name=drained_names, number=number, most=number, room=0))
    return replace(there, sites=tuple(sites), alike=() if drained else _alike(tuple(sites)))


def crowded(facts: DesignFacts, there: Cluster) -> tuple[str, Cluster | None]:
    """Returns what other things and jobs hold of these places, and the places when all of that lies in each class.

    In each class as many members fewer fit as all that others hold makes; where it joins nodes and sizes do not divide,
    one more of each node.  None where what they hold has no bound; no words where nobody else holds any.
    """
    own = facts.design.components.get(there.thing)
    shared, lost, pieces = list[str](), Fraction(0), 0
    for resource, need in (needed(own) if own else {}).items():
        others = _holders(facts, there.thing, resource) if need.high > 0 else []
        shared += [resource] if others else []
        if any(most is None for most, _ in others):
            return " and ".join(shared), None
        lost = max(lost, sum((most * each for most, each in others if most is not None), Fraction(0)) / need.high)
        sizes = [each for _, each in others] + [given[resource].low for given in _stating(facts, resource)]
        if others and not there.each and any((size / need.high).denominator != 1 for size in sizes):
            pieces = sum(site.most for site in cluster(facts, there.thing, by=("node",), soft=False).sites)
    left = [
        replace(site, room=max(0, site.room - math.ceil(lost) - pieces)) if site.room is not None else site
        for site in there.sites
    ]
    return " and ".join(shared), replace(there, sites=tuple(left))


def _stating(facts: DesignFacts, resource: str) -> Iterator[Mapping[str, Any]]:
    return (given for given in facts.design.places.values() if isinstance(given.get(resource), Quantity))


def _holders(facts: DesignFacts, thing: str, resource: str) -> list[tuple[Fraction | None, Fraction]]:
    """Returns, for each other thing or job that holds a resource, how many members it has at most and what each holds.

    None: their number has no bound.  What may lie on no place that takes the thing holds nothing there.
    """
    owners: list[Component | Job] = [*facts.design.components.values(), *facts.design.jobs.values()]
    others = [owner for owner in owners if owner.name != thing and resource in needed(owner)]
    holding = [owner for owner in others if _meet(facts.design, thing, owner.name)]
    return [(_most_members(facts, owner), needed(owner)[resource].high) for owner in holding]


def _meet(design: Design, thing: str, other: str) -> bool:
    """Decides whether some place takes members of both."""
    states, of_other = admissions_of(design, thing), admissions_of(design, other)
    return any(state == OPEN == of_other[place] for place, state in states.items())


def _most_members(facts: DesignFacts, owner: Component | Job) -> Fraction | None:
    if isinstance(owner, Component):
        members = copies(facts, owner.name)
        return members.high if members is not None else None
    stated = [owner.constants[key] for key in (ALONE, TOGETHER, *WAITING) if key in owner.constants]
    return max((value.high for value in stated if isinstance(value, Quantity)), default=Fraction(1))


def _selected(facts: DesignFacts, thing: str, numbers: Mapping[str, int], words: tuple[str, ...]) -> list[Site]:
    """Returns the places that a thing selects (all, with no room, where it selects none)."""
    states, anywhere = admissions_of(facts.design, thing), facts.design.places
    selected = [name for name in anywhere if states[name] != EXCLUDED] or list(anywhere)
    sites = [_site(facts, thing, name, words, numbers, closed=states[name] != OPEN) for name in selected]
    sites = [site for site in sites if site.most > 0]
    if not sites:
        raise NeedsError(f"a place for {thing}: there is none")
    return sites


def _labelled(facts: DesignFacts, site: Site, labels: tuple[str, ...]) -> Site:
    """Returns the site with those of its labels that matter.  Raises NeedsError where it does not state one."""
    for label in labels:
        if label not in site.labels:
            raise NeedsError(f"{label} of {site.name}", None if site.place == _nowhere(facts) else site.place)
    return replace(site, labels={label: site.labels[label] for label in labels})


def _is_label(facts: DesignFacts, sites: list[Site], word: str) -> bool:
    """Decides whether a word is a label of the places; else it must mean the nodes themselves."""
    if any(word in site.labels for site in sites):
        return True
    if word in NODE_WORDS or word in facts.design.places:
        return False
    raise NeedsError(
        f"{word} of {sites[0].name}" if sites else f"places with {word}", sites[0].place if sites else None
    )


def _site(
    facts: DesignFacts, thing: str, name: str, words: tuple[str, ...], numbers: Mapping[str, int], *, closed: bool
) -> Site:
    given = facts.design.places[name]
    counted = given.get("count")
    place = next((v.place for v in given.values() if hasattr(v, "place")), None) or _nowhere(facts)
    labels = {word: text_of(given[word]) for word in words if word in given and word != "count"}
    number, most, adder = (numbers[name], numbers[name], "") if name in numbers else _numbers(facts, name, counted)
    quantity = counted if isinstance(counted, Quantity) else None
    room = 0 if closed else _room(facts, thing, name, given)
    goes = tuple(f"{kind} {text_of(given[kind])}" for kind in (LOST, DRAINED) if kind in given)
    return Site(name, labels, number, max(number, most), room, place, quantity, adder, goes)


def _nowhere(facts: DesignFacts) -> Place:
    """Returns the place of a site about which nothing is written."""
    return Place(facts.design.file, 1, 1, 1, 1)


def _numbers(facts: DesignFacts, name: str, counted: object) -> tuple[int, int, str]:
    """Returns (nodes there are, nodes there may be, the loop that adds them)."""
    low = 1
    if counted is not None:
        if not isinstance(counted, Quantity) or not counted.exact or counted.low.denominator != 1:
            raise NeedsError(f"one count of {name}", getattr(counted, "place", None))
        low = int(counted.low)
    for writer in facts.written.get(f"{name}.count", ()):
        if writer.values.high is None:
            raise NeedsError(f"bounds of {writer.name}", writer.place)
        return _bounded(low, name), _bounded(math.floor(writer.values.high), name), writer.name
    return _bounded(low, name), low, ""


def _bounded(number: int, name: str) -> int:
    if not 0 <= number <= MOST_NODES:
        raise NeedsError(f"at most {MOST_NODES} places {name}")
    return number


def _room(facts: DesignFacts, thing: str, name: str, given: Mapping[str, Any]) -> int | None:
    """Returns how many members fit on one node, by what they need and what it has.

    Raises NeedsError where a node does not state a resource that they need: it may have none, or enough.
    """
    owner = facts.design.components.get(thing) or facts.design.jobs.get(thing)
    rooms = []
    for resource, need in (needed(owner) if owner else {}).items():
        if need.high > 0:
            there = given.get(resource)
            if not isinstance(there, Quantity):
                place = next((value.place for value in given.values() if hasattr(value, "place")), need.place)
                raise NeedsError(f"{resource} of {name} (0 where there is none)", place)
            rooms.append(math.floor(there.low / need.high))
    return min(rooms, default=None)


def _merged(sites: list[Site], *, each: bool) -> Iterator[Site]:
    """Yields sites alike as one class; where nodes do not count one by one, a class is one place with all the room."""
    groups: dict[object, list[Site]] = {}
    for site in sites:
        alike: object = (
            tuple(sorted(site.labels.items())),
            site.room if each else site.room is None,
            site.most > site.number,
            site.goes if each else (),
        )
        groups.setdefault(alike, []).append(site)
    for group in groups.values():
        number, most = sum(site.number for site in group), sum(site.most for site in group)
        name, first = ", ".join(site.name for site in group), group[0]
        room = first.room
        if not each:
            room = None if first.room is None else sum((site.room or 0) * site.number for site in group)
            number = most = 1
            if any(site.adder for site in group):
                room = None if room is None else sum((site.room or 0) * site.most for site in group)
        yield Site(name, first.labels, number, most, room, first.place, first.counted, first.adder, first.goes)


def _alike(sites: tuple[Site, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Returns domains that may be exchanged, where one label is used: the same numbers of nodes with the same room."""
    labels = dict.fromkeys(label for site in sites for label in site.labels)
    if len(labels) != 1:
        return ()
    label = next(iter(labels))
    members: dict[str, list[int]] = {}
    for k, site in enumerate(sites):
        members.setdefault(site.labels[label], []).append(k)
    groups: dict[object, list[tuple[int, ...]]] = {}
    for classes in members.values():
        ordered = tuple(sorted(classes, key=lambda k: _shape(sites[k])))
        groups.setdefault(tuple(_shape(sites[k]) for k in ordered), []).append(ordered)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _shape(site: Site) -> tuple[int, int, int]:
    return site.number, site.most, -1 if site.room is None else site.room
