"""Repairs of evictions that never end: places for all members, or triggers that the best placement meets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Repair
from coherence.findings.question_input import Subject
from coherence.language.expressions.tree import Call, Compare, Number, Tree
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.jobs.eviction import IDLE, NONE, chase
from coherence.verify.jobs.eviction_case import EvictionCase, values_at
from coherence.verify.jobs.sites import Cluster, cluster


def proposals(
    subject: Subject, facts: DesignFacts, case: EvictionCase, there: Cluster, members: int
) -> Iterator[Repair]:
    """Places for all, or a trigger that the best placement meets; with a rule by which the placer spreads."""
    thing, by = case.thing, case.labels[0]
    rule = () if thing in subject.design.placement else (_rule(subject, thing, by),)
    counted, copies = there.sites[0].counted, facts.quantities.get(f"{thing}.copies")
    if len(there.sites) == 1 and counted is not None and _helps(facts, case, there, members, places=members):
        yield from _proposal(repairs.change(subject, counted, Fraction(members)), *rule)
    for trigger, number in [(one.trigger, number) for one in case.loops for number in _thresholds(one.trigger.tree)]:
        level = Fraction(math.ceil(Fraction(members, max(there.nodes, 1))))
        if not any(rule_.together for rule_ in there.rules):
            yield from _proposal(repairs.rewrite(subject, trigger.at(number.span), level, number.dimension), *rule)
    if copies is not None and copies.exact and _helps(facts, case, there, there.nodes, places=None):
        yield from _proposal(repairs.change(subject, copies, Fraction(there.nodes)), *rule)


def _helps(facts: DesignFacts, case: EvictionCase, there: Cluster, members: int, *, places: int | None) -> bool:
    """Returns whether, under the stated placement, it comes to rest with so many members (and places)."""
    if case.thing not in facts.design.placement:
        return True
    numbers = dict.fromkeys(facts.design.places, places) if places is not None else dict(there.chosen)
    other = cluster(facts, case.thing, by=case.labels, numbers=numbers)
    return chase(case.evictors, other, members, values_at(case, other, members)).verdict in (NONE, IDLE)


def _thresholds(tree: Tree) -> Iterator[Number]:
    if isinstance(tree, Compare) and isinstance(tree.left, Call) and isinstance(tree.right, Number) and tree.op == ">":
        yield tree.right


def _rule(subject: Subject, thing: str, by: str) -> Edit | None:
    """Returns a placement rule as a new last line; None where the design has a placement already."""
    text = subject.sources.get(subject.design.file)
    if text is None or subject.design.placement:
        return None
    lines = text.rstrip("\n").split("\n")
    end = Place(subject.design.file, len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 1)
    return Edit(end, "", f"\nplacement: {{{thing}: [spread by {by} <= 1]}}")


def _proposal(*edits: Edit | None) -> Iterator[Repair]:
    made = repairs.proposal(*edits)
    yield from [made] if made is not None else []
