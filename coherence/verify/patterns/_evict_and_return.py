"""A loop that evicts what comes back, where the thing alone brings the trigger back: ended and started for ever."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.design import Component, Design, Loop
from coherence.expressions.tree import Arithmetic, Compare, Name, Number, Tree
from coherence.finding import Finding, Step
from coherence.names import resolve
from coherence.shape import Formula, Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import Dimension, show
from coherence.verify.attempts import Span


def evicted_again(question: Question, subject: Subject) -> Iterator[Finding]:
    """Loops `{evict: x}` with a trigger `y.r_used > c`, where one x needs that much of r."""
    design = subject.design
    for loop in design.loops.values():
        component = design.components.get(loop.actuation.evict.text) if loop.actuation and loop.actuation.evict else None
        if component is None or component.returns is None or component.returns.text == "never":
            continue
        match loop.trigger:
            case Formula(tree=Compare(op=">" | ">=" as op, left=Name(path=path), right=right)):
                yield from _compared(question, design, loop, component, (op, path, right))


def _compared(question: Question, design: Design, loop: Loop, component: Component, trigger: tuple[str, str, Tree]) -> Iterator[Finding]:
    op, path, right = trigger
    need = _need(component, path.partition(".")[2])
    cap = constant(right, design)
    if need is None or cap is None:
        return
    certain = need.low > cap.high if op == ">" and cap.high is not None else cap.high is not None and need.low >= cap.high
    if not certain:
        return  # more than one member or other users decide
    name, where = component.name, loop.trigger.place if isinstance(loop.trigger, Formula) else loop.place
    message = f"{loop.name} evicts {name} above {show(cap.low, need.dimension)}, but one {name} needs {need} and returns: it is evicted for ever, without progress"
    places = [where.labelled("it is evicted from here on"), need.place.labelled("one of them needs this much")]
    places += [component.returns.place.labelled("and it comes back")] if component.returns else []
    witness = [Step(None, text) for text in (f"{name} starts and reaches {need}", f"{loop.name} evicts it", f"{name} returns and starts again")]
    numbers = {"needed by one": (need.low, unit(need.dimension)), "evicted above": (cap.low, unit(need.dimension))}
    yield question.conflict(message, places, (loop.name, name), arithmetic(numbers, witness=witness))


def unit(dimension: Dimension) -> str:
    """The base unit of a quantity, or nothing for a number."""
    return "" if not dimension.powers else str(dimension)


def _need(component: Component, signal: str) -> Quantity | None:
    """What one member needs of the resource whose use the signal tells (`memory_used` tells of `memory`)."""
    needs = component.needs if isinstance(component.needs, dict) else {}
    return next((q for name, q in needs.items() if signal in (name, f"{name}_used", f"{name}_usage", f"used_{name}")), None)


def constant(tree: Tree, design: Design) -> Span | None:
    """The range of an expression over constants of components; None where something else stands in it."""
    match tree:
        case Number(value=value):
            return Span(value, value)
        case Name(path=path):
            head, _, key = resolve(path, design).partition(".")
            value = design.components[head].constants.get(key) if head in design.components else None
            return Span(value.low, value.high) if isinstance(value, Quantity) else None
        case Arithmetic(op="*", left=left, right=right):
            one, other = constant(left, design), constant(right, design)
            return None if one is None or other is None else _times(one, other)
    return None


def _times(one: Span, other: Span) -> Span | None:
    ends: list[Fraction] = [a * b for a in (one.low, one.high) for b in (other.low, other.high) if a is not None and b is not None]
    return Span(min(ends), max(ends)) if len(ends) == 4 else None
