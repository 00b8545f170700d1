"""The members whose timers spend one budget together, and what they spend where none does so alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.language.design import Timer
from coherence.language.words import MEMBER
from coherence.model.model import Interval
from coherence.verify.events.firing_gaps import owner
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.patterns.timers._failure_budget import FailureBudget, fewest_in
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
    """Returns of how many members a timer or loop spends one budget; one where there is a budget of each.

    Only a limit `per` what the timer stands for gives each its own.
    """
    timer, loop = facts.design.timers.get(cause), facts.design.loops.get(cause)
    if budget.fires:
        return _firing(facts, budget, facts.design.timers[cause])
    stated, per = budget.limit.per, timer.per if timer is not None else loop.per if loop is not None else None
    if stated is not None and stated.text in _own(facts, budget.thing):
        return CountedMembers(budget.thing, 1, 1)
    partly = stated is not None and not _is_one(copies(facts, stated.text))
    if per is not None and per.text != budget.thing and (per.text in facts.design.components or per.text not in MEMBER):
        return CountedMembers(per.text, 1, None, partly=partly)
    if timer is None and per is None:
        return CountedMembers(budget.thing, 1, 1)
    return _members(facts, budget.thing, partly=partly, alone=per is None)


def _firing(facts: DesignFacts, budget: FailureBudget, timer: Timer) -> CountedMembers:
    """Returns the members whose timers, one each, a limit on the firings of a timer counts together."""
    (thing, sure), stated = owner(facts.design, timer), budget.limit.per
    own = _own(facts, thing) if thing in facts.design.components else {thing}
    if not thing or (stated is not None and stated.text in own):
        return CountedMembers(thing or budget.thing, 1, 1)
    partly = stated is not None and not _is_one(copies(facts, stated.text))
    members = _members(facts, thing, partly=partly, alone=timer.per is None)
    return members if sure else replace(members, fewest=min(1, members.fewest))


def _own(facts: DesignFacts, thing: str) -> set[str]:
    """Returns the words of a limit's `per` that give each member of a thing a budget."""
    return {thing, *(word for word in ANY_MEMBER if word not in facts.design.components)}


def _members(facts: DesignFacts, thing: str, *, partly: bool, alone: bool) -> CountedMembers:
    """Returns how many members a thing may have; `alone`: it is one where nothing says how many."""
    many = copies(facts, thing) if thing in facts.design.components else None
    if many is None:
        return CountedMembers(thing, 1, 1 if alone else None, partly=partly)
    most = None if many.high is None else max(1, math.floor(many.high))
    return CountedMembers(thing, math.ceil(many.low or 0), most, facts.places.get(f"{thing}.copies"), partly)


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
    fired = members.fewest * fewest_in(budget, cause.apart.high)
    certain = fired > budget.most_lives and budget.limit.per is None and budget.always
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
