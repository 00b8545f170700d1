"""Finds a cap that two loops share, so that members that fail stay in service though both would take them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.timers.removals import Removal, failing, paths, removals

MOST_MEMBERS = 10_000


def withheld(question: Question, facts: DesignFacts) -> Iterator[Finding]:
    """Yields one answer per thing whose failing members two loops would take out under one cap that is lower."""
    by_thing: dict[str, list[Removal]] = {}
    for removal in removals(facts):
        if removal.out and removal.caps and removal.name in facts.design.loops:
            by_thing.setdefault(removal.thing, []).append(removal)
    for thing, several in by_thing.items():
        if len(several) > 1:
            yield from _answer(question, facts, thing, several)


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
    of = (*(removal.name for removal in several), *(limit.name for limit in several[0].caps), thing)
    numbers = {"members": (members, ""), "may be out": (most, ""), "failing": (bad, "")}
    return question.conflict(
        message, tuple(dict.fromkeys(places)), of, arithmetic(numbers, witness=witness), certain=False,
    )  # fmt: skip
