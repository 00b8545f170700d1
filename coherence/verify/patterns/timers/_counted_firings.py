"""Answers about a limit that counts how often a timer fires: what begins it anew, and what fires once alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step, Verdict
from coherence.findings.question_input import Certificate, Question, arithmetic
from coherence.language.design import Timer
from coherence.model.model import Interval
from coherence.verify.events.firing_gaps import begins_apart, longest_life, owner
from coherence.verify.events.forestalling import never_comes
from coherence.verify.events.periods import begun_beside
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.members_that_stay import unmoved
from coherence.verify.patterns.timers._budget_causes import FiringRecurrence, always_lifted
from coherence.verify.patterns.timers._counted_members import counted_members
from coherence.verify.patterns.timers._failure_budget import FailureBudget
from coherence.verify.patterns.writers._pair import Numbers

BEGUN_ONCE = "'{}' begins {} once"


def of_firings(
    question: Question, facts: DesignFacts, budget: FailureBudget, cause: FiringRecurrence,
    answer: Callable[[FailureBudget, FiringRecurrence], Finding],
) -> Finding:  # fmt: skip
    """Returns the answer about the firings of a timer, whose proof holds where its members come and go as well."""
    timer = facts.design.timers[cause.name]
    if cause.once:
        return _once(question, facts, budget, cause)
    alone = answer(budget, cause)
    names = " and ".join(cause.anew)
    needs = f"how often {names} begins {cause.name} anew is not followed: while nothing does, {alone.message}"
    if alone.verdict is Verdict.PROVED and cause.anew and cause.apart.low != cause.soonest:
        every = (answer(budget, replace(cause, apart=Interval(low, None))) for low in _closest(facts, budget, cause))
        proved = next((strict for strict in every if strict.verdict is Verdict.PROVED), None)
        if proved is None:
            return question.undecided(needs, alone.places, (*alone.of, *cause.anew))
        alone = replace(proved, of=(*proved.of, *cause.anew))
    if alone.verdict is Verdict.PROVED:
        return replace(alone, assumptions=(*alone.assumptions, *_stays(facts, timer)))
    longest = longest_life(facts, timer)
    if alone.verdict is Verdict.CONFLICT and longest is not None:
        span = longest - cause.first
        within = replace(budget, window=span if budget.window is None else min(span, budget.window))
        if span <= 0 or answer(within, cause).verdict is not Verdict.CONFLICT:
            return question.undecided(needs, alone.places, (*alone.of, *cause.anew))
    return alone


def _closest(facts: DesignFacts, budget: FailureBudget, cause: FiringRecurrence) -> Iterator[Fraction]:
    """Yields how close firings are at the least, in the mean of a window, where lives of members are begun anew.

    So close as two of them may be; or, where it is known how often lives begin, those within each life and one more for
    each of them.
    """
    yield cause.soonest
    begins = [begins_apart(facts, facts.design.timers[cause.name], name) for name in cause.anew]
    if budget.window is None or not cause.apart.low or any(not apart for apart in begins):
        return
    lives = 1 + sum(math.ceil(budget.window / apart) for apart in begins if apart)
    yield budget.window / (budget.window // cause.apart.low + lives)


def _stays(facts: DesignFacts, timer: Timer) -> Iterator[str]:
    """Yields what is assumed of the members that a timer stands for, and of what it counts from."""
    thing, _ = owner(facts.design, timer)
    yield from unmoved(facts.design, thing) if thing in facts.design.components else ()
    start = timer.start
    if start is not None and start.kind == "outside" and timer.every is not None:
        yield BEGUN_ONCE.format(start.text, timer.name)
    if start is not None:
        names = begun_beside(facts.design, timer)
        yield from (f"{name} brings no '{start.text}' between two of its rounds" for name in names)


def _once(question: Question, facts: DesignFacts, budget: FailureBudget, cause: FiringRecurrence) -> Finding:
    """Answers for a timer that fires once for each of its members: all of them may in one window."""
    members = counted_members(facts, budget, cause.name)
    many = (members.place.labelled("so many members"),) if members.place is not None else ()
    places, of = (budget.place, cause.place, *many), (budget.limit.name, cause.name)
    start = facts.design.timers[cause.name].start
    each = f"{cause.name} fires once after '{start.text if start is not None else ''}'"
    if members.most is None:
        needs = f"needs how many {members.thing} there are, each with a {cause.name} of its own: {each}"
        return question.undecided(needs, places, of)
    numbers: Numbers = {"lives": (budget.lives, ""), f"members of {members.thing}": (members.most, "")}
    if members.most <= budget.lives:
        claim = Certificate(claim=f"(<= {members.most}.0 {budget.lives}.0)").script()
        message = f"{each}, at most {members.most} times: {budget.limit.name} holds"
        assumed = tuple(unmoved(facts.design, members.thing))
        return question.proved(message, places, of, arithmetic(numbers, certificate=claim), assumptions=assumed)
    within = "ever" if budget.window is None else f"in {render_seconds(budget.window)}"
    message = (
        f"{each}, of each of {members.most} {members.thing}: {budget.limit.name} allows {budget.lives} {within}, "
        "and they may start together"
    )
    steps = (
        Step(cause.apart.low, f"{cause.name} of each of {members.most} {members.thing} fires"),
        Step(None, f"{members.most} are more than {budget.lives}: {budget.limit.name} is spent, {budget.end}"),
    )
    return question.conflict(message, places, of, arithmetic(numbers, witness=steps), certain=False)


def unknown_pace(question: Question, facts: DesignFacts, budget: FailureBudget) -> Iterator[Finding]:
    """Yields that nothing says how soon a timer fires again whose firings a limit counts; COH213 speaks of crashes."""
    from coherence.verify.events.crash_loops import holds_back

    design, timer = facts.design, facts.design.timers[budget.thing]
    start, counted = timer.start, budget.window is not None
    never = always_lifted(facts, timer) or never_comes(design, f"{timer.name} fires")
    if start is None or not counted or never or holds_back(design, budget.limit):
        return
    needs = f"needs how soon '{start.text}' comes again: {budget.limit.name} counts how often {budget.thing} fires"
    places = (budget.place, start.place.labelled("nothing says how soon again"))
    yield question.undecided(needs, places, (budget.limit.name, budget.thing))
