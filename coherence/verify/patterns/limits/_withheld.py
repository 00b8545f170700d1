"""Finds a cap that two loops share, so that members that fail stay in service though both would take them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, arithmetic, rational
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.timers.removals import Removal, failing, paths, removals

MOST_MEMBERS = 10_000


def withheld(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields one answer per thing whose failing members two loops would take out under one cap that is lower."""
    for thing, several in _sharing(facts).items():
        yield from _answer(question, facts, thing, several)


def absences(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields a proof per thing of which the cap lets out as many as fail together, whatever their number."""
    for thing, several in _sharing(facts).items():
        fails, range_ = failing(facts, thing), copies(facts, thing)
        if fails is None or fails.high is None or range_ is None or range_.low is None or range_.high is None:
            continue
        low, high = max(1, math.ceil(range_.low)), math.floor(range_.high)
        if high - low > MOST_MEMBERS:
            continue
        sizes = [
            (removal.most(facts, members), min(members, math.floor(fails.high)))
            for members in range(low, high + 1)
            for removal in several
        ]
        if all(most is not None and bad <= most for most, bad in sizes):
            claims = "".join(f" (<= {rational(bad)} {rational(most or 0)})" for most, bad in dict.fromkeys(sizes))
            evidence = arithmetic({}, certificate=Certificate(claim=f"(and true{claims})").script())
            places = tuple(dict.fromkeys(place for removal in several for place in removal.places))
            yield question.absent(f"as many {thing} as fail together may be out", places, _of(thing, several), evidence)


def _sharing(facts: DesignFacts) -> dict[str, list[Removal]]:
    """Returns the loops that take members of one thing out under a cap, where there are two of them or more."""
    by_thing: dict[str, list[Removal]] = {}
    for removal in removals(facts):
        if removal.out and removal.caps and removal.name in facts.design.loops:
            by_thing.setdefault(removal.thing, []).append(removal)
    return {thing: several for thing, several in by_thing.items() if len(several) > 1}


def _of(thing: str, several: list[Removal]) -> tuple[str, ...]:
    return (*(removal.name for removal in several), *(limit.name for limit in several[0].caps), thing)


def _answer(question: Question, facts: DesignFacts, thing: str, several: list[Removal]) -> Iterator[Finding]:
    fails, range_ = failing(facts, thing), copies(facts, thing)
    if fails is None or fails.high is None or range_ is None or range_.low is None or range_.high is None:
        return
    low, high = max(1, math.ceil(range_.low)), math.floor(range_.high)
    for members in range(low, min(high, low + MOST_MEMBERS) + 1):
        most, bad = several[0].most(facts, members), min(members, math.floor(fails.high))
        if most is not None and bad > most:
            yield _conflict(question, facts, several, (members, most, bad))
            return
    if high - low > MOST_MEMBERS:
        names = (*(removal.name for removal in several), thing)
        places = tuple(dict.fromkeys(place for removal in several for place in removal.places))
        yield question.undecided(f"needs a smaller range of copies of {thing}", places, names, bound=f"{MOST_MEMBERS}")


def _conflict(question: Question, facts: DesignFacts, several: list[Removal], size: tuple[int, int, int]) -> Finding:
    members, most, bad = size
    thing, caps = several[0].thing, " and ".join(limit.name for limit in several[0].caps)
    names = " and ".join(removal.name for removal in several)
    message = (
        f"{caps} lets {most} of {members} {thing} out for {names} together: "
        f"with {bad} failing, {bad - most} of them stay in service"
    )
    witness = (
        Step(None, f"{bad} of {members} {thing} fail; {several[0].name} takes {most} out"),
        Step(None, f"{caps} is reached: {several[1].name} may take no more out"),
    )
    places = [place for removal in several for place in removal.places]
    places += [facts.places[path].labelled("fail together") for path in paths(thing) if path in facts.places]
    numbers = {"members": (members, ""), "may be out": (most, ""), "failing": (bad, "")}
    return question.conflict(
        message, tuple(dict.fromkeys(places)), _of(thing, several), arithmetic(numbers, witness=witness), certain=False,
    )  # fmt: skip
