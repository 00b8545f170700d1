"""hopeless eviction: the victim alone is above the threshold, and it always comes back.

## What
A loop evicts members of a thing while a condition on what they hold is true.  The condition is evaluated with one
member alone: if it still holds, and the member returns, eviction repeats for ever and nothing is ever finished.  So
does a condition that the stated numbers alone make true for ever.
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
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import figure_unit, render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Component, Loop, needed
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Compare, Held, Logic, Name, Tree
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.model import Interval, interval
from coherence.verify.facts.design_facts import DesignFacts, copies, known
from coherence.verify.facts.limits import rounded
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import truth, with_ranges
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question("COH216", "hopeless-eviction", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that evicts a thing whose needs its trigger reads."""
    evictors = [loop for loop in subject.design.loops.values() if loop.evicted]
    if not evictors:
        return
    facts = known(subject)
    for loop in evictors:
        victim = subject.design.components.get(loop.evicted)
        if victim is not None and isinstance(loop.trigger, Formula):
            case = _case(facts, loop, loop.trigger, victim)
            if case is not None:
                yield from _answer(subject, facts, case)
            else:
                yield from _always(facts, loop, loop.trigger, victim)


@dataclass(frozen=True)
class HopelessCase:
    """A loop that evicts `victim` while `condition` holds, which reads what it holds as the signal `path`."""

    loop: Loop
    victim: Component
    trigger: Formula
    condition: Tree
    path: str
    resource: str
    need: Quantity

    @property
    def of(self) -> tuple[str, str]:
        return (self.loop.name, self.victim.name)

    @property
    def places(self) -> tuple[Place, ...]:
        returns = self.victim.returns
        both = (
            self.need.place.labelled(f"one {self.victim.name} alone holds this"),
            self.trigger.place.labelled(f"{self.loop.name} evicts while this holds"),
        )
        return (*both, returns.place.labelled("it returns")) if returns is not None else both

    def holds(self, facts: DesignFacts, amount: Interval) -> bool | None:
        """Returns whether the condition holds while so much is held."""
        return truth(self.condition, with_ranges(facts.values, {self.path: amount}))


def _case(facts: DesignFacts, loop: Loop, trigger: Formula, victim: Component) -> HopelessCase | None:
    condition = facts.tree(trigger.tree.condition if isinstance(trigger.tree, Held) else trigger.tree)
    missing = facts.missing(condition)
    found = _read(condition, victim, missing)
    return HopelessCase(loop, victim, trigger, condition, missing[0], *found) if found and len(missing) == 1 else None


def _read(condition: Tree, victim: Component, missing: tuple[str, ...]) -> tuple[str, Quantity] | None:
    """Returns the resource of the victim that the unknown signal of the condition is about."""
    words = {word for path in missing for word in path.partition(".")[2].split("_")}
    mentioned = words | {path.partition(".")[2] for path in used(condition)}
    named = [(resource, need) for resource, need in needed(victim).items() if resource in mentioned]
    return named[0] if len(named) == 1 else None


def _always(facts: DesignFacts, loop: Loop, trigger: Formula, victim: Component) -> Iterator[Finding]:
    """Answers about a trigger that holds for the numbers that the design states, whatever is evicted."""
    condition = facts.tree(trigger.tree.condition if isinstance(trigger.tree, Held) else trigger.tree)
    returns = victim.returns
    if not used(condition) or facts.missing(condition) or truth(condition, facts.values) is not True:
        return
    of = (loop.name, victim.name)
    places = [trigger.place.labelled(f"{loop.name} evicts while this holds: always, with the stated numbers")]
    places += [q.place.labelled("stated here") for path in used(condition) if (q := facts.quantities.get(path))][:3]
    if returns is None:
        yield QUESTION.undecided(f"needs returns of {victim.name} (always, never or after a time)", places, of)
        return
    if returns.text == "never":
        return
    every = loop.timescale.period.high if loop.timescale and loop.timescale.period else None
    witness = (
        Step(Fraction(0), f"the trigger of {loop.name} holds: {victim.name} is evicted and returns"),
        Step(every, "nothing that the trigger reads has changed: it is evicted again"),
    )
    message = f"{loop.name} evicts {victim.name} for ever: {trigger.text} always holds with the stated numbers"
    both = (*places, returns.place.labelled("it returns"))
    yield QUESTION.conflict(message, both, of, arithmetic(_stated(facts, condition), witness=witness))


def _stated(facts: DesignFacts, condition: Tree) -> Numbers:
    """Returns the exact numbers that a condition reads."""
    spans = {path: facts.values[path] for path in used(condition) if path in facts.values}
    units = {path: figure_unit(q.dimension) for path in spans if (q := facts.quantities.get(path)) is not None}
    return {
        path: (span.low, units.get(path, "")) for path, span in spans.items() if span.exact and span.low is not None
    }


def _answer(subject: Subject, facts: DesignFacts, case: HopelessCase) -> Iterator[Finding]:
    alone = case.holds(facts, interval(case.need))
    returns = case.victim.returns
    if alone is False:
        yield _fits(facts, case)
    elif returns is None:
        needs = f"needs returns of {case.victim.name} (always, never or after a time)"
        yield QUESTION.undecided(needs, case.places, case.of)
    elif returns.text != "never":
        yield _hopeless(subject, facts, case, certain=alone is True)


def _fits(facts: DesignFacts, case: HopelessCase) -> Finding:
    """Answers that one fits; several may still be too many for whoever admits them."""
    name, need = case.victim.name, case.need
    number = copies(facts, name)
    most = max(number.high if number is not None and number.high is not None else Fraction(1), Fraction(1))
    if case.holds(facts, Interval(need.low, need.high * most)) is not False:
        needs = f"one {name} fits, {render_quantity(most)} of them may not: needs who admits them"
        return QUESTION.undecided(needs, case.places, case.of)
    script = claimed(Logic("not", (case.condition,)), with_ranges(facts.values, {case.path: interval(need)}))
    evidence = arithmetic({"one alone": (need.high, figure_unit(need.dimension))}, certificate=script)
    return QUESTION.proved(f"one {name} alone never makes {case.loop.name} act", case.places, case.of, evidence)


def _hopeless(subject: Subject, facts: DesignFacts, case: HopelessCase, *, certain: bool) -> Finding:
    loop, victim, need = case.loop, case.victim, case.need
    level, shown = _level(facts, case), render_quantity(need.high, need.dimension)
    side = "below" if _below(case) else "above"
    above = f", {loop.name} acts {side} {render_quantity(level, need.dimension)}" if level is not None else ""
    back = "always comes back" if str(victim.returns) == "always" else f"comes back {victim.returns}"
    message = (
        f"{loop.name} evicts {victim.name} for ever: one alone holds {shown} of {case.resource}{above}, and it {back}"
    )
    every = loop.timescale.period.high if loop.timescale and loop.timescale.period else None
    witness = (
        Step(Fraction(0), f"{victim.name} runs alone and holds {shown}"),
        Step(every, f"the trigger of {loop.name} holds: {victim.name} is evicted"),
        Step(None, f"{victim.name} returns with the same footprint: as at the beginning, with no progress"),
    )
    unit = figure_unit(need.dimension)
    numbers: Numbers = {
        "one alone": (need.high, unit),
        **({f"acts {side}": (level, unit)} if level is not None else {}),
    }
    evidence = arithmetic(numbers, witness=witness)
    lower = _repairs(subject, facts, case, level) if level is not None and level > 0 and side == "above" else ()
    return QUESTION.conflict(message, case.places, case.of, evidence, certain=certain, repairs=lower)


def _below(case: HopelessCase) -> bool:
    """Decides whether the loop acts where less is held than a level."""
    match case.condition:
        case Compare(op="<" | "<=", left=Name(path=path)):
            return path == case.path
        case Compare(op=">" | ">=", right=Name(path=path)):
            return path == case.path
    return False


def _level(facts: DesignFacts, case: HopelessCase) -> Fraction | None:
    """Returns the level that the held amount is compared with, where the condition is a plain comparison."""
    condition, held = case.condition, Name(case.path)
    if not isinstance(condition, Compare) or held not in (condition.left, condition.right):
        return None
    return facts.range(condition.right if condition.left == held else condition.left).low


def _repairs(subject: Subject, facts: DesignFacts, case: HopelessCase, level: Fraction) -> Iterator[Repair]:
    """Yields a member that fits, or a larger capacity."""
    need = case.need
    edits = [repairs.change(subject, need, rounded(need, level * Fraction(9, 10), up=False))] if need.exact else []
    for path in used(case.condition):
        quantity = facts.quantities.get(path)
        if quantity is not None and quantity.exact:
            larger = quantity.low * need.high / level * Fraction(11, 10)
            edits.append(repairs.change(subject, quantity, rounded(quantity, larger, up=True)))
    yield from (repair for edit in edits if (repair := repairs.proposal(edit)) is not None)
