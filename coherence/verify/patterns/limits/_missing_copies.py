"""Holds an update that takes copies away against those that are missing already, since their places are gone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Limit
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.members_that_stay import LOST, may_go, things_on_places
from coherence.verify.jobs.losses import going_by_entry, stated_losses
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.room_in_places import fewer_fit
from coherence.verify.patterns.writers._pair import Numbers


@dataclass(frozen=True)
class Update:
    """An update of a thing by a cap on its missing copies; `sizes`: how many copies there are, and how many may go."""

    thing: str
    away: Limit
    of: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    place: Place


def answer(question: Question, subject: Subject, facts: DesignFacts, update: Update) -> Finding | None:
    """Returns the conflict where lost places leave more copies without one than may be missing; None where none do."""
    component = facts.design.components.get(update.thing)
    if component is None or not may_go(facts.design) or update.thing not in things_on_places(facts.design):
        return None
    for copies, spare in dict.fromkeys((update.sizes[-1], update.sizes[0])):
        for name, number, left in _lost(facts):
            if 0 < spare < copies and fewer_fit(facts, component, copies - spare, {name: left}):
                return _conflict(question, subject, facts, update, (copies, spare), (name, number))
    return None


def _lost(facts: DesignFacts) -> Iterator[tuple[str, int, int]]:
    """Yields each entry of which some places are lost at once: how many, and how many are left."""
    try:
        going = list(going_by_entry(facts))
    except NeedsError:
        return
    for name, kind, number in going:
        there = facts.design.places[name].get("count")
        count = there.low if isinstance(there, Quantity) and there.exact else Fraction(1)
        if kind == LOST and (there is None or (isinstance(there, Quantity) and there.exact)):
            yield name, number, max(0, math.floor(count) - number)


def _conflict(
    question: Question, subject: Subject, facts: DesignFacts, update: Update, size: tuple[int, int],
    lost: tuple[str, int],
) -> Finding:  # fmt: skip
    (name, number), (copies, spare), stated = lost, size, update.away.at_most
    gone = f"{number} of {name}" if number > 1 else name
    why = f"more than {spare} of {copies} copies find no place, and {spare} may be missing"
    message = f"an update of {update.thing} hangs while {gone} {'are' if number > 1 else 'is'} lost: {why}"
    witness = (
        Step(None, f"{gone} lost, with the copies that lie there"),
        Step(None, f"more than {spare} copies of {update.thing} are missing: none of the others may go"),
    )
    edit = repairs.rewrite(subject, stated.place, Fraction(number + 1), ONE) if stated is not None else None
    proposal = repairs.proposal(edit) if edit is not None else None
    numbers: Numbers = {"copies": (copies, ""), "may be missing": (spare, ""), "lost": (number, "")}
    return question.conflict(
        message, (update.place, *stated_losses(facts.design)), update.of, arithmetic(numbers, witness=witness),
        certain=False, assumptions=("an update counts those that are missing already, as Kubernetes does",),
        repairs=[proposal] if proposal is not None else [],
    )  # fmt: skip
