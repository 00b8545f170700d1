"""Finds timers that take members out under a cap that, rounded, lets none go (`40 % of machine.copies`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.design import Limit, Timer
from coherence.language.entries.actions import ENDS, action_in
from coherence.language.expressions.tree import Name
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.facts.limits import always_holds, raised
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.removals import Removal, caps_on, removed_by

MOST_MEMBERS = 10_000
REMOVED = ("removed",)  # what ends a member is counted by no other word: a cap on `ejected` does not hold a probe back


def answers(question: Question, subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields one answer per timer that takes members out under caps whose numbers depend on how many there are."""
    for timer in facts.design.timers.values():
        thing = removed_by(timer)
        caps = [limit for limit in caps_on(facts, thing) if _holds_back(limit, timer)]
        if thing in facts.design.components and caps:
            removal = Removal(thing, timer.name, "", timer.place, None, driven=False, caps=tuple(caps))
            yield from _answer(question, subject, facts, removal)


def _holds_back(limit: Limit, timer: Timer) -> bool:
    """Decides whether a cap counts what a timer takes out."""
    if limit.at_most is None or limit.counts is None or not isinstance(limit.counts.tree, Name):
        return False
    ends = action_in(timer.then.text if timer.then is not None else "") == ENDS
    words = REMOVED if ends else STATES["out of service"]
    return limit.counts.tree.path.rpartition(".")[2] in words and always_holds(limit)


def _answer(question: Question, subject: Subject, facts: DesignFacts, removal: Removal) -> Iterator[Finding]:
    range_, names = copies(facts, removal.thing), ", ".join(limit.name for limit in removal.caps)
    if range_ is None or range_.low is None or range_.high is None or range_.high - range_.low > MOST_MEMBERS:
        return
    sizes = range(max(1, math.ceil(range_.low)), math.floor(range_.high) + 1)
    room = {members: removal.most(facts, members) for members in sizes}
    whole = {members: most for members, most in room.items() if most is not None}
    if not whole or len(whole) < len(room):
        needs = f"needs the numbers that {names} is made of"
        yield question.undecided(needs, removal.places, removal.of, lacks_number=True)
        return
    none = [members for members, most in whole.items() if most < 1]
    if none:
        yield _never(question, subject, facts, removal, none[0], certain=len(none) == len(whole))
    elif any(not isinstance(limit.at_most, Quantity) for limit in removal.caps):
        listed = " ".join(f"(>= {most} 1)" for most in dict.fromkeys(whole.values()))
        numbers: Numbers = {"let out": (min(whole.values()), "")}
        evidence = arithmetic(numbers, certificate=Certificate(claim=f"(and true {listed})").script())
        message = f"{names} lets at least one of {removal.thing} go for {removal.name}"
        yield question.proved(message, removal.places, removal.of, evidence)


def _never(
    question: Question, subject: Subject, facts: DesignFacts, removal: Removal, members: int, *, certain: bool
) -> Finding:
    """Returns that a timer takes none of so many members out, or, where a limit says that this is meant, a note."""
    thing, names = removal.thing, ", ".join(limit.name for limit in removal.caps)
    message = f"{removal.name} never acts with {members} {thing}: {names} lets none of them go"
    numbers: Numbers = {"members": (members, ""), "let out": (0, "")}
    intended = next((limit.intended for limit in removal.caps if limit.intended is not None), None)
    if intended is not None:
        places = (*removal.places, intended.place)
        return question.note(f"{message}, as intended: {intended}", places, removal.of, arithmetic(numbers))
    witness = (
        Step(Fraction(0), f"one of {members} {thing} is to be taken out by {removal.name}"),
        Step(None, f"{names} comes to less than one of {members}: it stays, and so does each later one"),
    )
    return question.conflict(
        message, removal.places, removal.of, arithmetic(numbers, witness=witness),
        certain=certain, repairs=tuple(_repairs(subject, facts, removal, members)),
    )  # fmt: skip


def _repairs(subject: Subject, facts: DesignFacts, removal: Removal, members: int) -> Iterator[Repair]:
    """Yields a cap of one, where it is a number, else as many members as let one go."""
    for limit in removal.caps:
        if isinstance(limit.at_most, Quantity) and limit.at_most.high < 1:
            repair = repairs.proposal(repairs.change(subject, limit.at_most, Fraction(1)))
            yield from [repair] if repair else []
    stated = facts.quantities.get(f"{removal.thing}.copies")
    more = next((n for n in range(members + 1, members + 200) if (removal.most(facts, n) or 0) >= 1), None)
    if stated is not None and more is not None:
        repair = repairs.proposal(raised(subject, stated, Fraction(more)))
        yield from [repair] if repair else []
