"""The members whose timers spend one budget together, and what they spend where none does so alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.language.words import MEMBER
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.patterns.timers._failure_budget import FailureBudget
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.recurrences import Recurrence

ANY_MEMBER = ("replica", "member", "copy", "instance", "pod")  # of a limit `per` one: the members of what it counts


@dataclass(frozen=True)
class CountedMembers:
    """How many members of a thing, each with a timer of its own, a budget counts together; None: no bound is known.

    `partly`: the budget is one of several, and nothing says which of them a firing is counted in.
    """

    thing: str
    fewest: int
    most: int | None
    place: Place | None = None
    partly: bool = False


def counted_members(facts: DesignFacts, budget: FailureBudget, cause: str) -> CountedMembers:
    """Returns of how many members a timer spends one budget; one where there is a budget of each, and for a loop.

    Only a limit `per` what the timer stands for gives each its own.
    """
    timer, stated = facts.design.timers.get(cause), budget.limit.per
    start, per = (timer.start, timer.per) if timer is not None else (None, None)
    thing = start.subject if budget.fires and start is not None else budget.thing
    declared = facts.design.components
    if budget.fires and per is not None and (per.text in declared or thing not in declared):
        thing = per.text
    own = {thing, *((per.text,) if per is not None else ()), *(word for word in ANY_MEMBER if word not in declared)}
    if timer is None or (stated is not None and stated.text in own):
        return CountedMembers(thing, 1, 1)
    partly = stated is not None and not _is_one(copies(facts, stated.text))
    many = copies(facts, thing)
    unknown = per is not None and per.text not in {thing, *declared, *MEMBER}
    if many is None or thing not in declared or unknown:
        return CountedMembers(thing, 1, 1 if per is None else None, partly=partly)
    most = None if many.high is None else max(1, math.floor(many.high))
    fewest = math.ceil(many.low or 0)
    return CountedMembers(thing, fewest, most, facts.places.get(f"{thing}.copies"), partly)


def _is_one(members: Interval | None) -> bool:
    return members is not None and members.low == members.high == 1


def spent_together(
    question: Question, budget: FailureBudget, cause: Recurrence, counted: tuple[CountedMembers, int, Fraction],
    where: tuple[tuple[Place, ...], tuple[str, ...], Numbers],
) -> Finding:  # fmt: skip
    """Answers that timers of several members, none of which does so alone, spend one budget.

    `counted`: the members, the most firings of each in the window, and the window in seconds.  It is certain where the
    fewest members fire so often in any window, whatever their phases.
    """
    (members, each, window), (places, of, figures) = counted, where
    assert members.most is not None
    together, span = members.most * each, render_seconds(window)
    least = math.floor(window / cause.apart.high) if cause.apart.high is not None else 0
    certain = members.fewest * least > budget.lives and budget.limit.per is None
    message = (
        f"{cause.name} of {members.most} {members.thing} uses {budget.limit.name} up: {members.most} times {each} is "
        f"{together} in {span}, {budget.lives} are allowed"
    )
    numbers: Numbers = {**figures, f"members of {members.thing}": (members.most, ""), "of each": (each, "")}
    steps = [
        Step(
            (cause.apart.low or Fraction(0)) * k, f"{cause.name} of each of {members.most} {members.thing}: number {k}"
        )
        for k in range(1, min(each, 8) + 1)
    ]
    steps.append(Step(None, f"{together} in {span}: {budget.limit.name} is spent, {budget.end}"))
    many = (members.place.labelled("so many members"),) if members.place is not None else ()
    assumed = () if certain else (f"as many {members.thing} as there may be fire at the same times",)
    if budget.limit.per is not None:
        assumed = (*assumed, f"each {cause.name} counts for the one {budget.limit.per.text}")
    return question.conflict(
        message, (*places, *many), of, arithmetic(numbers, witness=steps),
        certain=certain, assumptions=assumed,
    )  # fmt: skip
