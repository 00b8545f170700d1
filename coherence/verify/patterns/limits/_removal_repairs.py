"""Changes that keep enough members in service: a cap, a floor, more members."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Repair
from coherence.findings.question_input import Subject
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.queues.offered_load import OfferedRate
from coherence.verify.timers.removals import Removal

Rates = (
    tuple[OfferedRate, OfferedRate] | None
)  # what is asked, and what one member serves; None where the trigger alone decides


@dataclass(frozen=True)
class RemovalStage:
    """So many members, of which `most` may go: the fewest out with which the rest are overloaded (None: never)."""

    members: int
    most: int
    need: int | None


def keeping(subject: Subject, removal: Removal, members: int, left: int) -> Iterator[Repair]:
    """Yields a cap, or a floor where there is none, under which so many of the members are left."""
    for limit in removal.caps:
        if isinstance(limit.at_most, Quantity):
            yield from _if_any(repairs.proposal(repairs.change(subject, limit.at_most, Fraction(members - left))))
        if isinstance(limit.at_least, Quantity):
            yield from _if_any(repairs.proposal(repairs.change(subject, limit.at_least, Fraction(left))))
    if not removal.caps:
        yield from _if_any(repairs.proposal(floor_of(subject, removal.thing, left)))


def proposed(
    subject: Subject, facts: DesignFacts, removal: Removal, rates: Rates, stage: RemovalStage
) -> Iterator[Repair]:
    """Yields a cap that leaves enough, more members, or both."""
    if rates is None:
        return
    enough = math.floor(rates[0].peak / rates[1].low) + 1
    for limit in removal.caps:
        if isinstance(limit.at_most, Quantity) and enough < stage.members:
            yield from _if_any(
                repairs.proposal(repairs.change(subject, limit.at_most, Fraction(stage.members - enough)))
            )
        if isinstance(limit.at_least, Quantity):
            yield from _if_any(repairs.proposal(repairs.change(subject, limit.at_least, Fraction(enough))))
    stated = facts.quantities.get(f"{removal.thing}.copies")
    if stated is not None and stated.exact and removal.caps:
        yield from _if_any(repairs.proposal(repairs.change(subject, stated, Fraction(enough + stage.most))))
    elif not removal.caps:
        floor = floor_of(subject, removal.thing, enough)
        more = [repairs.change(subject, stated, Fraction(enough + 1))] if stated is not None else []
        yield from _if_any(repairs.proposal(floor, *(more if enough >= stage.members else [])))


def floor_of(subject: Subject, thing: str, enough: int) -> Edit | None:
    """A limit under those left, in a section of its own at the end of the file."""
    design = subject.design
    text = subject.sources.get(design.file)
    if text is None or design.limits or design.imported:
        return None
    lines = repairs.lines_of(text)
    end = Place(design.file, len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 1)
    entry = f"keep_{thing}: {{counts: {thing}.ready, at_least: {enough}}}"
    return Edit(end, "", ("\n" if lines[-1] else "") + f"limits: {{{entry}}}\n")


def _if_any(made: Repair | None) -> Iterator[Repair]:
    yield from [made] if made is not None else []
