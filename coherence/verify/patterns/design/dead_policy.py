"""dead policy: a setting that can never take effect.

## What
Looks for caps that come to 0 on what a loop raises, and asks whether their windows together cover all time:
`during: "0 0 * * * for 24 h"` does, every day of every year, whatever the calendar.  `actions` names what a cap
covers; a loop that is not named is not bound by it.  `intended:` on the limit says that the freeze is meant.
A timer that takes members out is held back by a cap on those out, which may come to 0 by rounding: `40 % of
machine.copies` lets none of two go.
Looks further for triggers and rules that no state within the stated ranges fulfils, rules behind rules that always
win, `for` windows longer than the burst that would fill them, timers that another timer of the same start always
forestalls, values that a loop sets and its own bounds never let through, a `leave` after which nothing sets the value
back that `enter` has set, limits that another limit hides (over
another window, or through what the counts have to do with each other), and limits on how often a thing is begun again
after it failed, whose window is over before it can be begun again so often. A guard (promised `never` to act) that
cannot act is told, not warned of, as is a trigger that only the stated loads keep from acting; bounds that never bind
are harmless.

Boundary: conditions that contradict themselves are `vacuous-design`; two caps on one count are
`limit-against-demand`; setpoints beyond a sensor's end are `sensor-saturation`; tries that no deadline allows are
`budget-containment`.

## Why it hurts
Somebody configured the loop and reads its settings as what the system does.  It never does it: nodes stay
underused, patches are not applied, and no message says so.

## Example
```yaml
coherence: 1
limits: {budget: {counts: nodes.disrupted, at_most: 0, during: "0 0 * * * for 24 h"}}
loops: {consolidate: {trigger: nodes.underused for 1 min, actuation: {signal: nodes.disrupted, law: step, by: 1}}}
```

## Instead
A freeze in working hours: `during: "0 9 * * mon-fri for 8 h"`.

## Source
aws-samples/karpenter-blueprints, disruption-budgets.yaml.  Karpenter documentation, Disruption budgets: the most
restrictive active budget applies; expiry and interruption are not held back by budgets.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.places import Place
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.design import Limit
from coherence.language.expressions.lower_smt import real
from coherence.language.expressions.tree import Name
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import cap, place_of
from coherence.verify.facts.writers import Writer
from coherence.verify.patterns.design import _dead_conditions, _dead_limits, _dead_timers, _dead_values
from coherence.verify.patterns.writers._pair import Numbers

if TYPE_CHECKING:
    from coherence.verify.timers.cron import Recurring

QUESTION = Question("COH213", "dead-policy", "ai.04 runtime control coherence", regardless=frozenset({"end"}))
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per setting that never takes effect, or that a window might have switched off."""
    yield from _frozen(subject)
    design = subject.design
    if design.timers and design.limits:
        from coherence.verify.patterns.design import _dead_removals

        yield from _dead_timers.unreached(QUESTION, subject)
        yield from _dead_removals.answers(QUESTION, subject, known(subject))
    if len(design.timers) > 1:
        yield from _dead_timers.answers(QUESTION, subject)
    if design.loops or len(design.limits) > 1:
        yield from _dead_values.answers(QUESTION, subject)
        facts = known(subject)
        yield from _dead_conditions.answers(QUESTION, subject, facts)
        if any(workload.burst for workload in design.workload.values()):
            from coherence.verify.patterns.design import _dead_windows

            yield from _dead_windows.answers(QUESTION, subject, facts, _dead_conditions.reachable(subject, facts))
        yield from _dead_limits.answers(QUESTION, subject, facts)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof per loop whose conditions may all hold, and whose bounds let through what it sets."""
    yield from _dead_conditions.absences(QUESTION, subject, known(subject))


def _frozen(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that raises a signal which some limit sets to 0."""
    counted = {
        x.counts.tree.path for x in subject.design.limits.values() if x.counts and isinstance(x.counts.tree, Name)
    }
    if not counted:
        return
    facts = known(subject)
    for path, writers in facts.written.items():
        for writer in (writer for writer in writers if writer.kind != "ignore"):
            freezes = [limit for limit in _zero(facts, path) if _covers(limit, writer)]
            frees = [
                limit for limit in facts.counted.get(path, ()) if _covers(limit, writer) and _least(facts, limit) >= 1
            ]
            if freezes:
                yield from _answer(subject, facts, writer, (freezes, frees))
            elif any(map(_varies, frees)) and raises(facts, writer):
                yield _free(facts, writer, frees)


def _zero(facts: DesignFacts, path: str) -> Iterator[Limit]:
    """Yields caps on this signal that come to 0 for every value of their constants."""
    for limit in facts.counted.get(path, ()):
        tree = cap(facts, limit)
        high = facts.range(tree).high if tree is not None else None
        if high is not None and high <= 0:
            yield limit


def _least(facts: DesignFacts, limit: Limit) -> Fraction:
    """Returns how much the cap allows for every value of its constants; 0 where that is not known."""
    tree = cap(facts, limit)
    return (facts.range(tree).low if tree is not None else None) or Fraction(0)


def _varies(limit: Limit) -> bool:
    """Returns whether a cap has times or is computed: a number says itself that it allows as many."""
    return limit.during is not None or not isinstance(limit.at_most, Quantity)


def _covers(limit: Limit, writer: Writer) -> bool:
    """Returns whether the cap holds this loop back."""
    words = {action.text for action in limit.actions}
    return not words or writer.name in words


def raises(facts: DesignFacts, writer: Writer) -> bool | None:
    """Returns whether the loop only ever raises its signal above 0.  None where that is not known."""
    actuation = writer.loop.actuation
    if actuation is None:
        return None
    steps = [rule.by for rule in writer.loop.rules] if writer.loop.rules else [actuation.by]
    if writer.kind == "step":
        signs = [step.low > 0 if isinstance(step, Quantity) else None for step in steps]
        return True if all(signs) else None if None in signs else any(signs)
    low = facts.values[writer.signal].low if writer.signal in facts.values else writer.values.low
    return None if low is None else low > 0 or writer.values.high is None or writer.values.high > 0


def _answer(
    subject: Subject, facts: DesignFacts, writer: Writer, limits: tuple[list[Limit], list[Limit]]
) -> Iterator[Finding]:  # fmt: skip
    from coherence.verify.timers.cron import CronError, recurring, uncovered

    (freezes, frees), up = limits, raises(facts, writer)
    names = (writer.name, *(limit.name for limit in freezes))
    if up is False:
        return
    if up is None:
        needs = f"needs the step of {writer.name} (by:)" if writer.kind == "step" else f"needs bounds of {writer.name}"
        yield QUESTION.undecided(needs, (writer.place,), names)
        return
    try:
        windows = [recurring(limit.during.text) for limit in freezes if limit.during is not None]
    except CronError as error:
        place = next(limit.during.place for limit in freezes if limit.during is not None)
        yield QUESTION.undecided(f"the window of {names[1]} is not understood: {error}", (place,), names)
        return
    always = len(windows) < len(freezes)
    gap = None if always else uncovered(windows)
    places = _places(writer, freezes)
    if gap is not None:
        allowed = {limit.name: _least(facts, limit) for limit in frees}
        yield _open(writer, (windows, gap), places, names, allowed)
    else:
        yield _dead(subject, writer, freezes, places, names)


def _places(writer: Writer, freezes: list[Limit]) -> tuple[Place, ...]:
    places = []
    for limit in freezes:
        places.append(place_of(limit.at_most, limit).labelled(f"{limit.name} allows none"))
        if limit.during is not None:
            places.append(limit.during.place.labelled("at these times"))
    return (*places, writer.loop.place.labelled(f"{writer.name} would raise {writer.signal}"))


def _open(
    writer: Writer, free: tuple[list[Recurring], Fraction], places: tuple[Place, ...], names: tuple[str, ...],
    allowed: dict[str, Fraction],
) -> Finding:  # fmt: skip
    """Returns an instant outside all windows, at which the other caps (`allowed`) leave at least 1."""
    from coherence.verify.timers.cron import day_and_time

    claim = f"(and {_free_at(*free)} {_at_least_one(allowed)})"
    evidence = arithmetic({"free from": (free[1], "s")}, certificate=Certificate(claim=claim).script())
    message = f"{writer.name} may act at some time of each cycle, first at {day_and_time(free[1])}"
    return QUESTION.proved(message, places, (*names, *allowed), evidence)


def _free(facts: DesignFacts, writer: Writer, frees: list[Limit]) -> Finding:
    """Returns that caps leave a loop at least 1 at all times."""
    allowed = {limit.name: _least(facts, limit) for limit in frees}
    places = [place_of(limit.at_most, limit).labelled(f"{limit.name} allows at least 1") for limit in frees]
    places.append(writer.loop.place.labelled(f"{writer.name} raises {writer.signal}"))
    numbers: Numbers = {f"{name} allows": (least, "") for name, least in allowed.items()}
    evidence = arithmetic(numbers, certificate=Certificate(claim=_at_least_one(allowed)).script())
    names = " and ".join(allowed)
    allow = f"{names} allow{'s' * (len(frees) == 1)} at least 1 at all times"
    message = f"what {writer.name} raises is never capped at 0: {allow}"
    return QUESTION.proved(message, places, (writer.name, *allowed), evidence)


def _at_least_one(allowed: dict[str, Fraction]) -> str:
    return f"(and true {' '.join(f'(>= {real(least)} 1.0)' for least in allowed.values())})"


def _free_at(windows: list[Recurring], gap: Fraction) -> str:
    from coherence.verify.timers.cron import around

    before = [f"(<= {real(end)} {real(gap)})" for end in around(windows, gap)]
    return f"(and true {' '.join(before)})"


def _dead(
    subject: Subject, writer: Writer, freezes: list[Limit], places: tuple[Place, ...], names: tuple[str, ...]
) -> Finding:
    intended = next((limit.intended for limit in freezes if limit.intended is not None), None)
    together = "their windows cover all time" if len(freezes) > 1 else "at all times"
    numbers: Numbers = {"allowed": (0, ""), "time covered": (Fraction(1), "")}
    if intended is not None:
        return QUESTION.note(
            f"{writer.name} never acts, as intended: {intended}", (*places, intended.place), names, arithmetic(numbers)
        )
    allow = f"{' and '.join(names[1:])} allow{'s' * (len(freezes) == 1)}"
    message = f"{writer.name} never acts: {allow} no {writer.signal}, {together}"
    witness = (
        Step(Fraction(0), f"{writer.name} wants to raise {writer.signal}: {freezes[0].name} allows 0"),
        Step(Fraction(86400), "the same a day later, and on every other day of the calendar"),
    )
    return QUESTION.conflict(
        message, places, names, arithmetic(numbers, witness=witness),
        assumptions=("actions that these limits do not cover (expiry, interruption) go on",),
        repairs=_repairs(subject, freezes),
    )  # fmt: skip


def _repairs(subject: Subject, freezes: list[Limit]) -> Iterator[Repair]:
    """Allow one at a time."""
    from coherence.findings import repairs

    for limit in freezes:
        if isinstance(limit.at_most, Quantity) and len(freezes) == 1:
            repair = repairs.proposal(repairs.change(subject, limit.at_most, Fraction(1)))
            yield from [repair] if repair else []
