"""hopeless eviction: the victim alone is above the threshold, and it always comes back.

## What
A loop evicts members of a thing while a condition on what they hold is true.  The condition is evaluated with one
member alone: if it still holds, and the member returns, eviction repeats for ever and nothing is ever finished.
A member that fits alone is proved to be safe from this; whether several fit together is a question to whoever
admits them.

## Why it hurts
The monitor kills the task to save the node, the scheduler starts it again with the same footprint, and the pair
looks busy until somebody counts the restarts.

## Example
```yaml
coherence: 1
components: {node: {memory: 16 GiB}, task: {needs: {memory: 17 GiB}, returns: always}}
loops:
  monitor: {trigger: node.memory_used > 95 % of node.memory, actuation: {evict: task}}
```

## Instead
A task that fits (`needs: {memory: 12 GiB}`), a larger node, or `returns: never` after the first kill.

## Source
ray-project/ray#31509 and #32219 (memory monitor against unlimited retries of tasks that ran out of memory).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.design import Component, Loop
from coherence.expressions import names as used
from coherence.expressions.tree import Compare, Held, Logic, Name, Tree
from coherence.finding import Finding, Repair, Step
from coherence.model import Interval, interval
from coherence.places import Place
from coherence.shape import Formula, Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import show
from coherence.verify.known import Known, copies, known
from coherence.verify.limits import rounded
from coherence.verify.patterns._capacity import needed
from coherence.verify.patterns._pair import Numbers
from coherence.verify.range_claims import claimed
from coherence.verify.ranges import truth

QUESTION = Question("COH216", "hopeless-eviction", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """One answer per loop that evicts a thing whose needs its trigger reads."""
    evictors = [loop for loop in subject.design.loops.values() if loop.actuation and loop.actuation.evict]
    if not evictors:
        return
    facts = known(subject)
    for loop in evictors:
        assert loop.actuation is not None
        victim = subject.design.components.get(loop.actuation.evict.text) if loop.actuation.evict else None
        if victim is not None and isinstance(loop.trigger, Formula):
            yield from _answer(subject, facts, loop, loop.trigger, victim)


def _answer(subject: Subject, facts: Known, loop: Loop, trigger: Formula, victim: Component) -> Iterator[Finding]:
    condition = facts.tree(trigger.tree.condition if isinstance(trigger.tree, Held) else trigger.tree)
    missing = facts.missing(condition)
    needs = _read(condition, victim, missing)
    if needs is None or len(missing) != 1:
        return
    path, (resource, need) = missing[0], needs
    alone = truth(condition, {**facts.values, path: interval(need)})
    places = (
        need.place.labelled(f"one {victim.name} alone holds this"),
        trigger.place.labelled(f"{loop.name} evicts while this holds"),
    )
    if alone is False:
        yield from _fits(facts, loop, condition, path, victim, need, places)
    elif victim.returns is None:
        yield QUESTION.undecided(
            f"needs returns of {victim.name} (always, never or after a time)", places, (loop.name, victim.name)
        )
    elif victim.returns.text != "never":
        yield _hopeless(subject, facts, loop, condition, victim, (resource, need, path), places, certain=alone is True)


def _read(condition: Tree, victim: Component, missing: tuple[str, ...]) -> tuple[str, Quantity] | None:
    """The resource of the victim that the unknown signal of the condition is about."""
    needs = needed(victim)
    words = {word for path in missing for word in path.partition(".")[2].split("_")}
    mentioned = {path.partition(".")[2] for path in used(condition)}
    named = [(resource, need) for resource, need in needs.items() if resource in words or resource in mentioned]
    return named[0] if len(named) == 1 else None


def _fits(
    facts: Known, loop: Loop, condition: Tree, path: str, victim: Component, need: Quantity, places: tuple[Place, ...]
) -> Iterator[Finding]:
    number = copies(facts, victim.name)
    most = number.high if number is not None and number.high is not None else Fraction(1)
    together = truth(condition, {**facts.values, path: Interval(need.low, need.high * max(most, Fraction(1)))})
    if together is not False:
        yield QUESTION.undecided(
            f"one {victim.name} fits, {show(most)} of them may not: needs who admits them",
            places,
            (loop.name, victim.name),
        )
        return
    values = {**facts.values, path: interval(need)}
    evidence = arithmetic({"one alone": (need.high, "")}, certificate=claimed(Logic("not", (condition,)), values))
    yield QUESTION.proved(
        f"one {victim.name} alone never makes {loop.name} act", places, (loop.name, victim.name), evidence
    )


def _hopeless(
    subject: Subject, facts: Known, loop: Loop, condition: Tree, victim: Component,
    held: tuple[str, Quantity, str], places: tuple[Place, ...], *, certain: bool,
) -> Finding:  # fmt: skip
    resource, need, path = held
    level = _level(facts, condition, path)
    shown = show(need.high, need.dimension)
    above = f", {loop.name} acts above {show(level, need.dimension)}" if level is not None else ""
    back = "always comes back" if victim.returns and victim.returns.text == "always" else f"comes back {victim.returns}"
    message = f"{loop.name} evicts {victim.name} for ever: one alone holds {shown} of {resource}{above}, and it {back}"
    every = loop.timescale.period.high if loop.timescale and loop.timescale.period else None
    witness = (
        Step(Fraction(0), f"{victim.name} runs alone and holds {shown}"),
        Step(every, f"the trigger of {loop.name} holds: {victim.name} is evicted"),
        Step(None, f"{victim.name} returns with the same footprint: as at the beginning, with no progress"),
    )
    numbers: Numbers = {"one alone": (need.high, ""), **({"acts above": (level, "")} if level is not None else {})}
    more = (victim.returns.place.labelled("it returns"),) if victim.returns else ()
    return QUESTION.conflict(
        message, (*places, *more), (loop.name, victim.name), arithmetic(numbers, witness=witness),
        certain=certain, repairs=_repairs(subject, facts, condition, need, level),
    )  # fmt: skip


def _level(facts: Known, condition: Tree, path: str) -> Fraction | None:
    """The level that the held amount is compared with, where the condition is a plain comparison."""
    if not isinstance(condition, Compare):
        return None
    for mine, other in ((condition.left, condition.right), (condition.right, condition.left)):
        if mine == Name(path):
            found = facts.range(other)
            return found.low
    return None


def _repairs(
    subject: Subject, facts: Known, condition: Tree, need: Quantity, level: Fraction | None
) -> Iterator[Repair]:
    """A member that fits, or a larger capacity."""
    if level is None or level <= 0:
        return
    edits = [repairs.change(subject, need, rounded(need, level * Fraction(9, 10), up=False))] if need.exact else []
    for path in used(condition):
        quantity = facts.quantities.get(path)
        if quantity is not None and quantity.exact:
            larger = quantity.low * need.high / level * Fraction(11, 10)
            edits.append(repairs.change(subject, quantity, rounded(quantity, larger, up=True)))
    yield from (made for edit in edits if (made := repairs.proposal(edit)) is not None)
