"""Finds what can never happen: timers switched off, loops without a reachable trigger, and all that waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, arithmetic
from coherence.language.design import Design, Limit, Loop, Relay, Timer
from coherence.language.expressions.tree import Arithmetic, Call, Name, Number, Tree
from coherence.language.names import resolve
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.sentences import Event
from coherence.model.model import Interval, interval

Reachable = Callable[[Loop], bool]
Why = dict[str, tuple[Place, str]]  # name of a timer or loop -> where it is said, and the words


def ask(question: Question, design: Design, reachable: Reachable) -> Iterator[Finding]:
    """Yields findings about timers, promises and limits whose event never happens."""
    why = never(design, reachable)
    for timer in design.timers.values():
        name = fires(timer.start, design) if timer.start is not None else ""
        if name in why and timer.start is not None:
            yield _vacuous(question, f"the timer {timer.name} can never fire", timer.start, name, why, timer.name)
    for promise in design.promises.values():
        name = fires(promise.first, design) if promise.kind == "response" and promise.first is not None else ""
        if name in why and promise.first is not None:
            words = f"the promise {promise.name} says nothing"
            yield _vacuous(question, words, promise.first, name, why, promise.name)
    for limit in design.limits.values():
        yield from _counts_nothing(question, design, limit)


def never(design: Design, reachable: Reachable) -> Why:
    """Returns every timer and loop that can never act."""
    reasons: Why = {}
    for timer in design.timers.values():
        off = next((one for one in (timer.after, timer.misses) if isinstance(one, Word)), None)
        if off is not None:
            reasons[timer.name] = (off.place, f"{timer.name} is {off.text}")
    for loop in design.loops.values():
        if not reachable(loop):
            trigger = loop.trigger.enter if isinstance(loop.trigger, Relay) else loop.trigger
            place = trigger.place if isinstance(trigger, Formula) else loop.place
            reasons[loop.name] = (place, f"no state triggers {loop.name}")
    waiting = [timer for timer in design.timers.values() if timer.start is not None and timer.name not in reasons]
    while late := [timer for timer in waiting if _origin(timer, design) in reasons]:
        for timer in late:
            reasons[timer.name] = (timer.place, f"{timer.name} waits for {_origin(timer, design)}")
        waiting = [timer for timer in waiting if timer.name not in reasons]
    return reasons


def _origin(timer: Timer, design: Design) -> str:
    return fires(timer.start, design) if timer.start is not None else ""


def fires(event: Event, design: Design) -> str:
    """Returns the timer or loop of which the event is the firing; nothing where others may bring it about too."""
    name = event.text.removesuffix(" seen").removesuffix(" fires").removeprefix("last ")
    if event.kind != "outside" or not (name in design.timers or name in design.loops):
        return ""
    started = (timer.then.text for timer in design.timers.values() if timer.then is not None)
    return "" if name in started or f"{name} fires" in started else name


def _vacuous(question: Question, words: str, event: Event, name: str, why: Why, of: str) -> Finding:
    place, reason = why[name]
    places = (event.place.labelled(f"waits for {name}"), place.labelled(reason))
    return question.vacuous(f"{words}: it begins with '{event.text}', and {reason}", places, (of, name), arithmetic({}))


def _counts_nothing(question: Question, design: Design, limit: Limit) -> Iterator[Finding]:
    if limit.counts is None or limit.at_most is None:
        return
    counted = bounds(limit.counts.tree, design)
    if counted is None or counted.high is None or counted.high > 0 or not _names(limit.counts.tree):
        return
    if isinstance(limit.at_most, Quantity) and limit.at_most.low < 0:
        return
    places = [limit.counts.place.labelled("never above 0")]
    places += [place.labelled("0 by this") for place in _constants(limit.counts.tree, design)]
    message = f"the limit {limit.name} counts nothing: {limit.counts} is never above 0"
    yield question.vacuous(message, places, (limit.name,), arithmetic({"largest count": (counted.high, "")}))


def _names(tree: Tree) -> bool:
    match tree:
        case Name():
            return True
        case Arithmetic(left=left, right=right):
            return _names(left) or _names(right)
        case Call(arguments=parts):
            return any(map(_names, parts))
    return False


def constant(path: str, design: Design) -> Quantity | None:
    """Returns the value of a constant of a component that no loop writes."""
    thing, _, key = resolve(path, design).partition(".")
    component = design.components.get(thing)
    if component is None or f"{thing}.{key}" in _written(design):
        return None
    value = component.copies if key == "copies" else component.constants.get(key)
    return value if isinstance(value, Quantity) else None


@cached
def _written(design: Design) -> frozenset[str]:
    """Returns the signals that loops write; gathered once."""
    return frozenset(loop.written for loop in design.loops.values() if loop.written)


def _constants(tree: Tree, design: Design) -> Iterator[Place]:
    match tree:
        case Name(path=path) if (number := constant(path, design)) is not None and number.high <= 0:
            yield number.place
        case Arithmetic(left=left, right=right):
            yield from _constants(left, design)
            yield from _constants(right, design)


def bounds(tree: Tree, design: Design) -> Interval | None:
    """Returns the interval of a sum or product of constants; None where it is not known."""
    match tree:
        case Number(value=value):
            return Interval(value, value)
        case Name(path=path):
            number = constant(path, design)
            return interval(number) if number is not None else None
        case Arithmetic(op=op, left=left, right=right) if op in ("+", "-", "*"):
            return _combined(op, bounds(left, design), bounds(right, design))
    return None


def _combined(op: str, left: Interval | None, other: Interval | None) -> Interval | None:
    if left is None or other is None:
        return None
    if left.low is None or left.high is None or other.low is None or other.high is None:
        return None
    if op == "+":
        return Interval(left.low + other.low, left.high + other.high)
    if op == "-":
        return Interval(left.low - other.high, left.high - other.low)
    products = [a * b for a in (left.low, left.high) for b in (other.low, other.high)]
    return Interval(min(products), max(products))
