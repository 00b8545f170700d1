"""a vacuous design: assumptions that contradict each other, or a trigger that no state reaches.

## What
Looks for statements that no run can satisfy: promises that exclude each other, a limit whose floor
lies above its cap or that counts what is always 0, bounds without a value, a trigger whose comparisons
contradict each other; and what waits for it: a timer or promise that begins with what can never happen.

## Why it hurts
Everything is true of a design that has no run: each check would report "no conflict".

## Example
```yaml
coherence: 1
limits: {slots: {counts: pool.busy, at_least: 5, at_most: 3}}
```

## Instead
```yaml
coherence: 1
limits: {slots: {counts: pool.busy, at_least: 3, at_most: 5}}
```

## Source
The one model: vacuous = no run, or a trigger that cannot be reached.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Design, Limit, Loop, Relay
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Arithmetic, Compare, Logic, Name, Number, Tree
from coherence.language.names import resolve
from coherence.language.schema_kinds import Formula, Quantity
from coherence.verify.patterns.design import _never

QUESTION = Question("COH105", "vacuous-design", "")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """One finding per contradiction."""
    design = subject.design
    yield from _promises(design)
    for limit in design.limits.values():
        yield from _limit(limit)
    yield from _never.ask(QUESTION, design, lambda loop: _reachable(loop, design))
    for loop in design.loops.values():
        triggers = [loop.trigger] if isinstance(loop.trigger, Formula) else []
        if isinstance(loop.trigger, Relay):
            triggers = [f for f in (loop.trigger.enter, loop.trigger.leave) if f is not None]
        for formula in (*triggers, *(rule.when for rule in loop.rules if rule.when is not None)):
            if formula.text != "always" and not possible([formula.tree], design):
                place = formula.place.labelled("no state satisfies this")
                yield QUESTION.vacuous(
                    f"the trigger of {loop.name} can never hold: {formula}", (place,), (loop.name,), arithmetic({})
                )
        ends = [b for b in loop.actuation.bounds if isinstance(b, Quantity)] if loop.actuation else []
        if len(ends) == 2 and ends[0].low > ends[1].high:
            places = (ends[0].place.labelled("the lower bound"), ends[1].place.labelled("lies below it"))
            yield QUESTION.vacuous(
                f"{loop.name} has no value within its bounds: {ends[0]} > {ends[1]}",
                places,
                (loop.name,),
                arithmetic({}),
            )


def _reachable(loop: Loop, design: Design) -> bool:
    """May its trigger, or one of its rules, hold in some state?"""
    entered = loop.trigger.enter if isinstance(loop.trigger, Relay) else loop.trigger
    ways: list[Formula | None] = [rule.when for rule in loop.rules if rule.when is not None]
    return any(
        possible([f.tree for f in (entered, way) if isinstance(f, Formula) and f.text != "always"], design)
        for way in ways or [None]
    )


def _promises(design: Design) -> Iterator[Finding]:
    stated = {}
    for name, promise in design.promises.items():
        if promise.kind in ("always", "never") and promise.condition is not None:
            tree = promise.condition.tree
            stated[name] = (promise, Logic("not", (tree,)) if promise.kind == "never" else tree)
    broken: set[str] = set()
    for name, (promise, tree) in stated.items():
        if not possible([tree], design):
            broken.add(name)
            place = promise.place.labelled("no state satisfies this")
            yield QUESTION.vacuous(
                f"the promise {name} can never hold: {promise.text}", (place,), (name,), arithmetic({})
            )
    for one, other in itertools.combinations(sorted(stated.keys() - broken), 2):
        (first, a), (second, b) = stated[one], stated[other]
        if not possible([a, b], design):
            places = (first.place.labelled("this promise"), second.place.labelled("excludes this one"))
            yield QUESTION.vacuous(f"no run keeps both {one} and {other}", places, (one, other), arithmetic({}))


def _limit(limit: Limit) -> Iterator[Finding]:
    low, high = limit.at_least, limit.at_most
    if isinstance(low, Quantity) and isinstance(high, Quantity) and low.low > high.high:
        places = (low.place.labelled("the floor"), high.place.labelled("lies above the cap"))
        numbers = {"floor": (low.low, str(low.dimension)), "cap": (high.high, str(high.dimension))}
        least, most = units.show(low.low, low.dimension), units.show(high.high, high.dimension)
        message = f"the limit {limit.name} leaves no value: at least {least}, at most {most}"
        yield QUESTION.vacuous(message, places, (limit.name,), arithmetic(numbers))


@dataclass(frozen=True)
class Box:
    """What is known of one signal: low (<|<=) x (<|<=) high."""

    low: Fraction | None = None
    high: Fraction | None = None
    open_low: bool = False
    open_high: bool = False

    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.open_low or self.open_high))

    def above(self, value: Fraction, *, strict: bool) -> Box:
        if self.low is not None and (self.low > value or (self.low == value and self.open_low)):
            return self
        return Box(value, self.high, strict, self.open_high)

    def below(self, value: Fraction, *, strict: bool) -> Box:
        if self.high is not None and (self.high < value or (self.high == value and self.open_high)):
            return self
        return Box(self.low, value, self.open_low, strict)


Boxes = dict[str, Box]
NEGATION = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
MOST_BOXES = 512


def possible(trees: list[Tree], design: Design) -> bool:
    """Can all conditions hold at once?  Boxes over single signals: False is exact, True may be generous."""
    worlds: list[Boxes] = [_declared(trees, design)]
    for tree in trees:
        worlds = [w for world in worlds for w in _worlds(tree, world, design, holds=True)][:MOST_BOXES]
    return bool(worlds)


def _declared(trees: list[Tree], design: Design) -> Boxes:
    """Ranges of the constants that the conditions read."""
    found: Boxes = {}
    for tree in trees:
        for name in names_of(tree):
            thing, _, key = resolve(name, design).partition(".")
            component = design.components.get(thing)
            value = component.constants.get(key) if component else None
            if isinstance(value, Quantity):
                found[resolve(name, design)] = Box(value.low, value.high)
    return found


def _worlds(tree: Tree, world: Boxes, design: Design, *, holds: bool) -> Iterator[Boxes]:
    match tree:
        case Logic(op="not", terms=terms):
            yield from _worlds(terms[0], world, design, holds=not holds)
        case Logic(op=op, terms=terms) if (op == "and") is holds:
            worlds = [world]
            for term in terms:
                worlds = [w for one in worlds for w in _worlds(term, one, design, holds=holds)][:MOST_BOXES]
            yield from worlds
        case Logic(terms=terms):
            for term in terms:
                yield from _worlds(term, world, design, holds=holds)
        case Compare():
            yield from _compared(tree, world, design, holds=holds)
        case Name(path=path):
            yield from _cut(world, f"mode {path}", ">=" if holds else "<", Fraction(1))
        case _:
            if getattr(tree, "value", holds) is holds:
                yield world


def _compared(tree: Compare, world: Boxes, design: Design, *, holds: bool) -> Iterator[Boxes]:
    left, right, op = tree.left, tree.right, tree.op if holds else NEGATION[tree.op]
    one, other = _constant(left), _constant(right)
    if one is not None and other is not None:
        truth = {
            "<": one < other,
            "<=": one <= other,
            ">": one > other,
            ">=": one >= other,
            "==": one == other,
            "!=": one != other,
        }
        if truth[op]:
            yield world
    elif isinstance(left, Name) and other is not None:
        yield from _cut(world, resolve(left.path, design), op, other)
    elif isinstance(right, Name) and one is not None:
        yield from _cut(world, resolve(right.path, design), MIRROR[op], one)
    else:
        yield world


def _cut(world: Boxes, path: str, op: str, value: Fraction) -> Iterator[Boxes]:
    box = world.get(path, Box())
    if op == "!=":
        cuts = [box.below(value, strict=True), box.above(value, strict=True)]
    elif op == "==":
        cuts = [box.below(value, strict=False).above(value, strict=False)]
    elif op in ("<", "<="):
        cuts = [box.below(value, strict=op == "<")]
    else:
        cuts = [box.above(value, strict=op == ">")]
    yield from ({**world, path: cut} for cut in cuts if not cut.empty())


def _constant(tree: Tree) -> Fraction | None:
    """The value of an expression of literals."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Arithmetic):
        one, other = _constant(tree.left), _constant(tree.right)
        if one is None or other is None or (tree.op == "/" and not other):
            return None
        return {"+": one + other, "-": one - other, "*": one * other}.get(tree.op, one / other if other else None)
    return None
