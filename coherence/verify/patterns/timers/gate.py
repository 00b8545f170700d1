"""missing gate: one activity must be over before another, and nothing makes the other wait.

## What
A promise `node.partition ends before pod.start ends` about two activities.  It is kept when the
first is a cause of the second (a timer that runs from it, `after: 0 s`, and starts the other).  When
no event starts both and neither waits for the other, their lengths say nothing about their order:
a gate is missing.  Activities that one event starts are compared by their times (timer order).

## Why it hurts
Each is quick and right by itself, and on most days the faster one wins.  On the day it does not,
the pod takes a GPU that is about to be cut into slices, or the request meets a model that is not there.

## Example
```yaml
coherence: 1
components: {node: {takes: {partition: 30 s .. 90 s}}, pod: {takes: {start: 5 s .. 20 s}}}
promises: {gate: node.partition ends before pod.start ends}
```

## Instead
A taint that is lifted when the partition is there:
```yaml
coherence: 1
components: {node: {takes: {partition: 30 s .. 90 s}}, pod: {takes: {start: 5 s .. 20 s}}}
timers: {untaint: {from: node.partition ends, after: 0 s, then: pod.start starts}}
promises: {gate: node.partition ends before pod.start ends}
```

## Source
NVIDIA/gpu-operator#2670 (scale from zero with a MIG label: the pod starts before partitioning).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings import repairs as edits
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.graph import Causes
from coherence.verify.events.orders import between
from coherence.verify.patterns.timers import _before
from coherence.verify.patterns.timers._before import OrderPromise
from coherence.verify.timers import repairs
from coherence.verify.timers.firing import FiringWindow

QUESTION = Question("COH219", "missing-gate", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per promise about two activities that no common event times."""
    causes = graph.event_graph(subject.design)
    for pair in _before.pairs(subject.design):
        if not pair.activities:
            continue
        if pair.gated:
            yield _gated(pair)
        elif pair.apart:
            yield _missing(subject, pair, causes)


def _gated(pair: OrderPromise) -> Finding:
    order, _ = pair.worst
    message = f"'{pair.second}' waits for '{pair.first}' and comes {between(order.windows[1])} after it"
    places = [link.places[0].labelled(f"{link.effect} only after {link.cause}") for link in order.second if link.places]
    gap = {"gap at the least": (order.windows[1].earliest, "s")}
    evidence = arithmetic(gap, certificate=orders.certificate(order, "<="))
    of = (*_things(pair), *(link.name for link in order.second if link.kind == "timer"), pair.promise.name)
    where = (pair.promise.place.labelled("promised here"), *places)
    return QUESTION.proved(message, where, of, evidence, assumptions=order.assumptions)


def _things(pair: OrderPromise) -> tuple[str, ...]:
    return tuple(_activity(key).split(".")[0] for key in (pair.first, pair.second))


def _activity(key: str) -> str:
    return key.removeprefix("all of ").removeprefix("first ").rpartition(" ")[0]


def _missing(subject: Subject, pair: OrderPromise, causes: Causes) -> Finding:
    windows = {key: _window(key, causes) for key in (pair.first, pair.second)}
    numbers = {f"{_activity(key)} {end}": (v, "s") for key, w in windows.items() for end, v in _ends(w)}
    message = f"nothing makes '{pair.second}' wait for '{pair.first}': no event starts both, so either may come first"
    alone = f"{_activity(pair.first)} and {_activity(pair.second)} start whenever they do"
    return QUESTION.conflict(
        message, _places(subject, pair), (*_things(pair), pair.promise.name),
        arithmetic(numbers, witness=_timeline(pair, *windows.values())),
        certain=False, assumptions=(alone,), repairs=tuple(_repairs(subject, pair, causes)),
    )  # fmt: skip


def _window(key: str, found: Causes) -> FiringWindow | None:
    """Returns the time from the start of an activity to the event; None where it is the start itself, or not stated."""
    return next((link.window for link in found.get(key, ()) if link.kind == "activity" and not link.missing), None)


def _ends(window: FiringWindow | None) -> list[tuple[str, Fraction]]:
    if window is None or window.latest is None:
        return []
    return [("at least", window.earliest), ("at most", window.latest)]


def _timeline(pair: OrderPromise, first: FiringWindow | None, second: FiringWindow | None) -> tuple[Step, ...]:
    """Both activities start together or the first later: the second is over and the first is not."""
    slow = first.latest if first is not None and first.latest is not None else Fraction(0)
    fast = second.earliest if second is not None else Fraction(0)
    begins = max(Fraction(0), fast - slow + 1)
    steps = [Step(fast, pair.second), Step(begins + slow, f"{pair.first} only now")]
    for at, window, key in ((begins, first, pair.first), (Fraction(0), second, pair.second)):
        if window is not None:
            steps.insert(0, Step(at, f"{_activity(key)} starts"))
    return orders.sorted_steps(steps)


def _places(subject: Subject, pair: OrderPromise) -> tuple[Place, ...]:
    places = [pair.promise.place.labelled("promised, but nothing sees to it")]
    for key in (pair.first, pair.second):
        thing, _, activity = _activity(key).partition(".")
        component = subject.design.components.get(thing)
        span = (component.takes or {}).get(activity) if component is not None else None
        if span is not None:
            places.append(span.place.labelled(f"{thing}.{activity} takes {between(FiringWindow(span.low, span.high))}"))
        elif component is not None:
            places.append(component.place.labelled(f"{activity} time of {thing} is not stated"))
    return tuple(dict.fromkeys(places))


def _repairs(subject: Subject, pair: OrderPromise, causes: Causes) -> Iterator[Repair]:
    """Let what starts the second run from the first; or add a timer that does."""
    design, name = subject.design, "gate"
    roots = [
        link.name for chain in event_ways.chains(pair.second, causes) for link in chain[-1:] if link.kind == "timer"
    ]
    for root in dict.fromkeys(roots):
        yield from repairs.begin_with(subject, design.timers[root], pair.first)
    while name in {*design.timers, *design.loops, *design.components, *design.limits}:
        name += "_gate"
    gate = f"{{from: {pair.first}, after: 0 s, then: {_activity(pair.second)} starts}}"
    if pair.first.endswith(" starts") or not design.file or design.imported:
        return
    repair = edits.proposal(_inserted(subject, name, gate))
    if repair is not None:
        yield repair


def _inserted(subject: Subject, name: str, value: str) -> Edit | None:
    """Returns the timer in front of the first one, or in a section of its own at the end of the file."""
    text = subject.sources.get(subject.design.file)
    if text is None:
        return None
    lines = text.split("\n")
    first = next(iter(subject.design.timers.values()), None)
    if first is None:
        end = Place(subject.design.file, len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 1)
        return Edit(end, "", ("\n" if lines[-1] else "") + f"timers: {{{name}: {value}}}\n")
    before = lines[first.place.line - 1][: first.place.column - 1]
    between_them = ", " if "{" in before else f"\n{before}"
    at = Place(first.place.file, first.place.line, first.place.column, first.place.line, first.place.column)
    return Edit(at, "", f"{name}: {value}{between_them}")
