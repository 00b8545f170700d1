"""Reads which part of a capacity each job may use: places that take the same jobs are one pool of their resources.

Where every place takes every job, all of a capacity is one pool, and there are none of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Admittance
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.selectors import OPEN, admissions_of


@dataclass(frozen=True)
class JobPool:
    """What there is of each resource on places that take the same jobs."""

    places: tuple[str, ...]
    room: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return " and ".join(self.places)


def pools_of(facts: DesignFacts, names: Sequence[str], resources: Sequence[str]) -> tuple[JobPool, ...]:
    """Returns the pools of the places that have what jobs need; none where every place takes every job.

    Raises NeedsError where a rule places members one by one, or the design leaves open what a place has.
    """
    design = facts.design
    having = [name for name, given in design.places.items() if set(resources) & set(given)]
    _refuse_rules(design, names, resources)
    states = [admissions_of(design, name) for name in names]
    open_to = {place: tuple(state[place] == OPEN for state in states) for place in design.places}
    groups: dict[tuple[bool, ...], list[str]] = {}
    for place, takes in open_to.items():
        if place in having or any(takes):
            groups.setdefault(takes, []).append(place)
    if not having or all(map(all, groups)):
        return ()
    _refuse_adders(facts, having)
    return tuple(JobPool(tuple(group), _room(design, group, resources)) for group in groups.values())


def open_pools(design: Design, name: str, pools: Sequence[JobPool]) -> tuple[int, ...]:
    """Returns the numbers of the pools that take a job.  Raises NeedsError where none does."""
    states = admissions_of(design, name)
    numbers = tuple(number for number, pool in enumerate(pools) if states[pool.places[0]] == OPEN)
    if pools and not numbers:
        rules = [rule.place for rule in design.placement.get(name, ())]
        raise NeedsError(f"a place that takes {name}: none does", rules[0] if rules else None)
    return numbers


def _refuse_rules(design: Design, names: Sequence[str], resources: Sequence[str]) -> None:
    """Raises NeedsError where a rule counts members on each place, which no state of jobs does, or has no capacity."""
    having = any(set(resources) & set(given) for given in design.places.values())
    for name in names:
        for rule in design.placement.get(name, ()):
            if rule.must and not isinstance(rule, Admittance):
                raise NeedsError(f"places of {name} by `only on`, `not on` and `tolerates` alone", rule.place)
            if rule.must and not having:
                raise NeedsError(f"{' and '.join(resources)} of each place (0 where there is none)", rule.place)


def _refuse_adders(facts: DesignFacts, places: Sequence[str]) -> None:
    for name in places:
        writers = facts.written.get(f"{name}.count", ())
        if writers:
            raise NeedsError(f"a fixed count of {name}", writers[0].place)


def _room(design: Design, places: Sequence[str], resources: Sequence[str]) -> dict[str, Fraction]:
    stated = {r for r in resources if any(r in given for given in design.places.values())}
    return {
        resource: sum((_amount(name, design.places[name], resource) for name in places), Fraction(0))
        for resource in resources if resource in stated
    }  # fmt: skip


def _amount(name: str, given: Mapping[str, Any], resource: str) -> Fraction:
    each, count = given.get(resource), given.get("count")
    place = next((value.place for value in given.values() if hasattr(value, "place")), None)
    if not isinstance(each, Quantity) or not each.exact:
        raise NeedsError(f"one value for {resource} of {name} (0 where there is none)", place)
    if count is None:
        return each.low
    if not isinstance(count, Quantity) or not count.exact or count.low.denominator != 1:
        raise NeedsError(f"one count of {name}", place)
    return each.low * count.low
