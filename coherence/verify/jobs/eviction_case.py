"""Reads the loops of a design that evict one thing by how its members lie, with the numbers that they read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.design import Design, Loop
from coherence.language.expressions import names as used
from coherence.language.schema_kinds import Formula
from coherence.verify.facts.design_facts import DesignFacts, wanted
from coherence.verify.jobs.count_ranges import count_range
from coherence.verify.jobs.eviction import Evictor, evictor, needs_of
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.sites import Cluster

MOST_MEMBERS = 200


@dataclass(frozen=True)
class EvictingLoop:
    """A loop that evicts by how members lie."""

    loop: Loop
    trigger: Formula
    evictor: Evictor


@dataclass(frozen=True)
class EvictionCase:
    """Loops that evict one thing by how its members lie, the members there may be, and the values that they read.

    `others`: loops that evict the same members beside them.
    """

    loops: tuple[EvictingLoop, ...]
    low: int
    high: int
    constants: dict[str, Fraction]
    others: tuple[EvictingLoop, ...] = ()
    wanted: tuple[str, ...] = ()  # the paths of the number of members

    @property
    def thing(self) -> str:
        return self.loops[0].evictor.thing

    @property
    def evictors(self) -> tuple[Evictor, ...]:
        return tuple(one.evictor for one in self.loops)

    @property
    def beside(self) -> tuple[Evictor, ...]:
        return tuple(one.evictor for one in self.others)

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the labels by which they count."""
        return tuple(dict.fromkeys(label for one in (*self.evictors, *self.beside) for label in one.labels))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.loop.name for one in self.loops)


def values_at(case: EvictionCase, there: Cluster, members: int) -> dict[str, Fraction]:
    """Returns the constants, with what follows from the number of members and of places."""
    constants = {
        **case.constants,
        **dict.fromkeys(case.wanted, Fraction(members)),
    }
    constants |= {f"{site.name}.count": Fraction(site.number) for site in there.sites if "," not in site.name}
    for evicting in (*case.loops, *case.others):
        missing = needs_of(evicting.evictor, constants)
        if missing is not None:
            raise NeedsError(missing, evicting.trigger.place)
    return constants


def evicting(design: Design) -> dict[str, list[Loop]]:
    """Returns the loops that evict members of each thing."""
    loops: dict[str, list[Loop]] = {}
    for loop in design.loops.values():
        if loop.evicted:
            loops.setdefault(loop.evicted, []).append(loop)
    return loops


def counting_loops(thing: str, loops: Iterable[Loop]) -> Iterable[EvictingLoop]:
    """Yields those of the loops whose triggers count members on places."""
    for loop in loops:
        trigger = loop.trigger
        counts = evictor(thing, trigger.tree, loop.name) if isinstance(trigger, Formula) else None
        if counts is not None and isinstance(trigger, Formula):
            yield EvictingLoop(loop, trigger, counts)


def eviction_case(
    facts: DesignFacts, thing: str, loops: tuple[EvictingLoop, ...], others: tuple[EvictingLoop, ...] = ()
) -> EvictionCase:
    """Returns the case of some loops that evict one thing, beside others.  Raises NeedsError."""
    low, high = count_range(facts, thing, MOST_MEMBERS, loops[0].trigger.place)
    trees = [tree for one in (*loops, *others) for tree in (one.trigger.tree, facts.tree(one.trigger.tree))]
    named = {facts.bare.get(path, path) for tree in trees for path in used(tree)}
    spans = {path: facts.values[path] for path in sorted(named) if path in facts.values}
    constants = {path: span.low for path, span in spans.items() if span.exact and span.low is not None}
    numbers = tuple(wanted(facts.written, thing))
    stated = {path: value for path, value in constants.items() if path not in numbers}
    return EvictionCase(loops, low, high, stated, others, numbers)
