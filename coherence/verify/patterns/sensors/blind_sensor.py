"""blind sensor: a loop takes members away by one resource, while what runs on them holds another.

## What
For a loop that removes members of x (or steps their number down): the resources of x that something `needs` and
draws on x, against those that the loop's trigger, rules and target read (`x.cpu`, `x.cpu_used`; `sees gpu`,
`misses gpu` in the sensor chain).  A resource that is held and not read is contested and unseen: the condition may
hold while every unit of it is in use.  With what one job needs of the resources that are read, the largest share that
a fully used member can show is computed; where the threshold is below it, the loop never fires on such a member.
Where every resource that is held is read, the same is asked of a member on which one job runs.

A loop that reads no resource of x at all (`x.idle`, `x.underused`) is taken at its word.

## Why it hurts
A node with eight busy accelerators and idle processors looks empty.  It is drained, and a training run dies.

## Example
```yaml
coherence: 1
components:
  node: {copies: 1 .. 8, cpu: 96, gpu: 8}
  training: {needs: {cpu: 8, gpu: 8}, runs_on: node}
loops:
  scale_down:
    timescale: {period: 10 s}
    trigger: node.cpu_used < 50 % of node.cpu for 10 min
    actuation: {signal: node.copies, law: step, by: -1, bounds: [1, 8]}
```

## Instead
`trigger: node.cpu_used < 50 % of node.cpu and node.gpu_used < 50 % of node.gpu for 10 min`.

## Source
kubernetes/community#6840; Cluster Autoscaler FAQ: utilization is the requested CPU or memory over the allocatable, GPU
nodes are judged by their GPU since 1.14.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language import names
from coherence.language.design import Component, Loop, needed
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Compare, Held, Logic, Tree
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import COPIES, DesignFacts, known
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import enclosure, truth, with_ranges
from coherence.verify.facts.tier_shares import supplies
from coherence.verify.patterns.limits._removed_sensor import removed
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.removals import trigger_of

QUESTION = Question("COH242", "blind-sensor", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
SIZES = (*COPIES, "count", "size", "number")
RESOURCES = ("cpu", "gpu", "memory", "disk", "network")  # what a signal of this name is about
USED = ("", "_used", "_use", "_usage", "_utilization", "_utilisation", "_requested", "_busy", "_share")
SHARES = ("_utilization", "_utilisation", "_share")  # of what there is; the others may be shares or amounts


@dataclass(frozen=True)
class Blindness:
    """`loop` removes members of `thing` without reading `resource`, which `holder` needs."""

    loop: Loop
    thing: str
    resource: str
    holder: Component
    need: Quantity
    place: Place  # of what the loop reads, or of the link that says what it misses
    certain: bool  # the sensor says itself that it misses the resource


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop, holder and unseen resource."""
    removing = [(loop, thing) for loop in subject.design.loops.values() if (thing := _removes(loop))]
    if not removing:
        return
    facts = known(subject)
    yield from removed(QUESTION, facts, removing)
    for loop, thing in removing:
        held = list(_held(facts, thing))
        read = _read(facts, loop, thing, {resource for resource, _, _ in held})
        blind = [entry for entry in held if entry[0] not in read]
        if held and (read or _missed(loop)):
            yield from (_answer(subject, facts, _blindness(loop, thing, entry), read) for entry in blind)
            yield from _seen(facts, loop, thing, held, read)
        elif blind and _reads(facts, loop, thing):
            yield _ask(_blindness(loop, thing, blind[0]))


def _removes(loop: Loop) -> str:
    """Returns the thing whose members the loop takes away; empty where it takes none."""
    if loop.actuation is None or loop.evicted:
        return loop.evicted
    thing, _, signal = loop.written.partition(".")
    steps = [loop.actuation.by, *(rule.by for rule in loop.rules)]
    down = any(isinstance(step, Quantity) and step.low < 0 for step in steps)
    return thing if signal in SIZES and down else ""


def _held(facts: DesignFacts, thing: str) -> Iterator[tuple[str, Component, Quantity]]:
    """(resource, holder, need) of everything that draws on the thing."""
    for component in facts.design.components.values():
        for resource, need in needed(component).items() if component.name != thing else ():
            if supplies(facts, component, resource) == f"{thing}.{resource}" and need.high > 0:
                yield resource, component, need


def _read(facts: DesignFacts, loop: Loop, thing: str, resources: set[str]) -> set[str]:
    """Returns the resources of the thing that the loop reads, by the names of its signals or in its sensor's words."""
    paths = {facts.bare.get(path, path) for formula in names.loop_formulas(loop) for path in used(formula.tree)}
    signals = {path.partition(".")[2] for path in paths if path.partition(".")[0] == thing}
    component = facts.design.components.get(thing)
    own = resources | set(RESOURCES) | set(component.constants if component is not None else ())
    seen = {resource for resource in own for word in USED if f"{resource}{word}" in signals}
    links = loop.target.sensor if loop.target is not None else ()
    words = {word for link in links if link.kind == "sees" for word in link.what.replace(".", " ").split()}
    return (seen | (resources & words)) - _missed(loop)


def _reads(facts: DesignFacts, loop: Loop, thing: str) -> bool:
    """Returns whether the loop compares some signal of the thing with a number (a load, a utilization)."""
    paths = {facts.bare.get(path, path) for formula in names.loop_formulas(loop) for path in _compared(formula.tree)}
    return any(path.partition(".")[0] == thing for path in paths)


def _compared(tree: Tree) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, Compare):
            yield from used(node)


def _ask(blind: Blindness) -> Finding:
    needs = f"needs whether {blind.loop.name} sees {blind.resource} of {blind.thing}, which {blind.holder.name} holds"
    said = f"`target: {{sensor: sees {blind.resource}}}` or `misses {blind.resource}`"
    places = (blind.place.labelled("what is read"), blind.need.place.labelled(f"{blind.holder.name} holds this"))
    return QUESTION.undecided(f"{needs}: {said}", places, _of(blind))


def _missed(loop: Loop) -> set[str]:
    links = loop.target.sensor if loop.target is not None else ()
    return {word for link in links if link.kind == "misses" for word in link.what.replace(".", " ").split()}


def _blindness(loop: Loop, thing: str, entry: tuple[str, Component, Quantity]) -> Blindness:
    resource, holder, need = entry
    links = loop.target.sensor if loop.target is not None else ()
    stated = next((link.place for link in links if link.kind == "misses" and resource in link.what), None)
    formula = next(iter(names.loop_formulas(loop)), None)
    place = stated or (formula.place if formula is not None else loop.place)
    return Blindness(loop, thing, resource, holder, need, place, stated is not None)


def _answer(subject: Subject, facts: DesignFacts, blind: Blindness, read: set[str]) -> Finding:
    trigger = trigger_of(blind.loop)
    shown = _shown(facts, blind, read)
    fires = (
        truth(facts.tree(trigger), with_ranges(facts.values, shown))
        if trigger is not None and not blind.certain
        else None
    )
    if fires is False:
        return _spared(facts, blind, trigger, shown)
    return _conflict(subject, facts, blind, shown)


def _shown(facts: DesignFacts, blind: Blindness, read: set[str]) -> dict[str, Interval]:
    """Returns what the loop reads of a member on which the holder uses all of the unseen resource that it needs."""
    supply = facts.values.get(f"{blind.thing}.{blind.resource}")
    members = supply.low // blind.need.high if supply is not None and supply.low is not None else Fraction(1)
    return _readings(facts, blind.loop, (blind.thing, blind.holder, max(Fraction(1), Fraction(members))), read)


def _readings(
    facts: DesignFacts, loop: Loop, running: tuple[str, Component, Fraction], read: set[str]
) -> dict[str, Interval]:  # fmt: skip
    """Returns what the signals of a member show at the least while so many of the holder run on it."""
    trigger = trigger_of(loop)
    compared = [node for node in walk(facts.tree(trigger)) if isinstance(node, Compare)] if trigger is not None else []
    thing, holder, members = running
    ranges: dict[str, Interval] = {}
    for resource in read:
        need = needed(holder).get(resource)
        amount = (need.low if need is not None else Fraction(0)) * members
        supply = facts.values.get(f"{thing}.{resource}")
        for path in (f"{thing}.{resource}{word}" for word in USED[1:]):
            if _as_amount(facts, path, f"{thing}.{resource}", compared):
                ranges[path] = Interval(amount, None)
            elif supply is not None and supply.high is not None and supply.high > 0:
                ranges[path] = Interval(amount / supply.high, None)
    return {path: value for path, value in ranges.items() if path not in facts.values}


def _as_amount(facts: DesignFacts, path: str, supply: str, compared: list[Compare]) -> bool:
    """Returns whether the signal is compared as an amount (with what there is, or with more than 1), not as a share."""
    if path.endswith(SHARES):
        return False
    return all(supply in used(node) or _more_than_one(facts, node, path) for node in compared if path in used(node))


def _more_than_one(facts: DesignFacts, node: Compare, path: str) -> bool:
    other = enclosure(node.right if path in used(node.left) else node.left, facts.values)
    return other.low is not None and other.low > 1


def _numbers(facts: DesignFacts, blind: Blindness) -> Numbers:
    supply = facts.values.get(f"{blind.thing}.{blind.resource}")
    found: dict[str, tuple[Fraction | float | int, str]] = {"needed": (blind.need.high, "")}
    return found | ({"there": (supply.low, "")} if supply is not None and supply.low is not None else {})


def _places(facts: DesignFacts, blind: Blindness, read: str = "") -> tuple[Place, ...]:
    supply = facts.places.get(f"{blind.thing}.{blind.resource}")
    held = blind.need.place.labelled(f"{blind.holder.name} holds this {blind.resource} of {blind.thing}")
    here = (supply.labelled(f"{blind.resource} of one {blind.thing}"),) if supply is not None else ()
    return (blind.place.labelled(read or f"{blind.loop.name} does not see {blind.resource}"), held, *here)


def _of(blind: Blindness) -> tuple[str, ...]:
    return (blind.loop.name, blind.thing, blind.holder.name)


def _conflict(subject: Subject, facts: DesignFacts, blind: Blindness, shown: dict[str, Interval]) -> Finding:
    loop, thing, resource = blind.loop.name, blind.thing, blind.resource
    message = (
        f"{loop} takes {thing} away without looking at {resource}, of which {blind.holder.name} holds {blind.need}"
    )
    looks = ", ".join(
        f"{path} = {render_quantity(value.low or Fraction(0))}"
        for path, value in shown.items()
        if path.endswith("_used")
    )
    witness = (
        Step(Fraction(0), f"{blind.holder.name} runs on a {thing} and uses {blind.need} of its {resource}"),
        Step(None, f"{loop} reads {looks or 'other resources'}: its condition holds"),
        Step(None, f"{loop} takes the {thing} away, and {blind.holder.name} ends"),
    )
    return QUESTION.conflict(
        message, _places(facts, blind), _of(blind), arithmetic(_numbers(facts, blind), witness=witness), certain=False,
        assumptions=(f"{blind.holder.name} uses the {resource} that it holds",), repairs=_repairs(subject, blind),
    )  # fmt: skip


def _repairs(subject: Subject, blind: Blindness) -> Iterator[Repair]:
    """Yields the same threshold for the unseen resource as well."""
    trigger = blind.loop.trigger
    if not isinstance(trigger, Formula) or blind.certain:
        return
    old = repairs.text_at(subject.sources, trigger.place)
    seen = next((path for path in used(trigger.tree) if path.startswith(f"{blind.thing}.")), "")
    condition, _, hold = (old or "").rpartition(" for ")
    if old and seen and condition:
        both = f"({condition} and {blind.thing}.{blind.resource}_used <= 0) for {hold}"
        yield Repair((Edit(trigger.place, old, both),), "")


def _seen(
    facts: DesignFacts, loop: Loop, thing: str, held: list[tuple[str, Component, Quantity]], read: set[str]
) -> Iterator[Finding]:  # fmt: skip
    """Yields one proof per holder whose every resource is read, and one of which keeps the loop from acting."""
    trigger = trigger_of(loop)
    if trigger is None or _missed(loop) or truth(facts.tree(trigger), facts.values) is not None:
        return
    unseen = {holder.name for resource, holder, _ in held if resource not in read}
    entries = {entry[1].name: entry for entry in held if entry[1].name not in unseen}
    for entry in entries.values():
        shown = _readings(facts, loop, (thing, entry[1], Fraction(1)), read)
        if truth(facts.tree(trigger), with_ranges(facts.values, shown)) is False:
            yield _spared(facts, _blindness(loop, thing, entry), trigger, shown)


def _now(tree: Tree) -> Tree:
    """Returns the condition without the time for which it must hold."""
    return tree.condition if isinstance(tree, Held) else tree


def _spared(facts: DesignFacts, blind: Blindness, trigger: Tree | None, shown: dict[str, Interval]) -> Finding:
    """Answers that what the holder shows of the resources that are read keeps the loop from acting."""
    assert trigger is not None
    script = claimed(Logic("not", (_now(facts.tree(trigger)),)), with_ranges(facts.values, shown))
    message = f"{blind.loop.name} spares a {blind.thing} on which {blind.holder.name} runs: it shows in what is read"
    return QUESTION.proved(
        message, _places(facts, blind, "does not hold meanwhile"), _of(blind),
        arithmetic(_numbers(facts, blind), certificate=script),
        assumptions=(f"{blind.holder.name} uses what it holds of every resource",),
    )  # fmt: skip
