"""sustained oscillation: loops that sample each other's effect and never come to rest.

## What
Takes every group of sampled loops that influence each other (or themselves) through what they
write.  The model is executed exactly, over rationals, from the ends of its ranges: a run that
recurs, or that closes in on a periodic orbit on which a command keeps changing direction, is a
conflict, with period and amplitude.  Beside it stands the linear verdict with exact delays: the
spectral radius of one hyperperiod and the period of its dominant mode.

## Why it hurts
An autoscaler that multiplies by `metric / setpoint` is an integrator of gain one in the logarithm:
with a metric that is one period old it is exactly marginal and swings for ever with a period of six
samples, at every load; with two periods it grows until it hits its limits.

## Example
```yaml
coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: "delayed(web.usage, 15 s)", setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
```

## Instead
Hold decreases for longer than the loop's delay: `timescale: {period: 15 s, hold_down: 15 s}`.

## Source
Kubernetes documentation, Horizontal Pod Autoscaling, algorithm details; discrete integrator with d
steps of delay: critical gain 2 sin(pi / (2 (2 d + 1))).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.design import Design
from coherence.expressions import names as names_of
from coherence.finding import Finding
from coherence.names import component_formulas, loop_formulas, resolve
from coherence.subject import Question, Subject

QUESTION = Question("COH301", "sustained-oscillation", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """One answer per group of loops in feedback."""
    if not _may_feed_back(subject.design):
        return
    from coherence.loops.groups import answers  # the engine, only where loops can see their own effect

    yield from answers(QUESTION, subject)


def _may_feed_back(design: Design) -> bool:
    """Does any loop depend on what it writes, as far as names tell?  (A component that computes is taken whole.)"""
    depends: dict[str, set[str]] = {}
    for loop in design.loops.values():
        read = {_node(resolve(path, design), design) for f in loop_formulas(loop) for path in names_of(f.tree)}
        depends.setdefault(loop.name, set()).update(read)
        if loop.actuation and loop.actuation.signal:
            depends.setdefault(_node(loop.actuation.signal.text, design), set()).add(loop.name)
    for component in design.components.values():
        own = depends.setdefault(component.name, set())
        formulas = [names_of(f.tree) for f in component_formulas(component)]
        words = re.findall(r"[a-z][a-z0-9_.]*", component.state.text) if component.state else []
        own.update(_node(resolve(path, design), design) for path in (*words, *(p for paths in formulas for p in paths)))
    return any(loop in _reached(depends, depends[loop]) for loop in design.loops)


def _node(path: str, design: Design) -> str:
    """The signal itself, or its component where that has a state, a part or an output expression."""
    component = design.components.get(path.split(".", maxsplit=1)[0])
    if component is None:
        return path
    computes = component.part or component.state or any(component_formulas(component))
    return component.name if computes else path


def _reached(depends: dict[str, set[str]], start: set[str]) -> set[str]:
    found: set[str] = set()
    stack = list(start)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += depends.get(node, ())
    return found
