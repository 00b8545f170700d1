"""hidden reading: a loop reads a signal that a boundary between the two hides.

## What
For each loop that says where it runs, each signal that it reads and each boundary between them: whether the boundary
`hides` that signal, or all signals of its thing.  A loop that does not say where it runs is asked about on each side.

## Why it hurts
A tenant may not see the power of a device that it shares.  A loop that acts on it has no value, or one that stands
still, and what is shown of its law says nothing of what happens.

## Example
```yaml
coherence: 1
infrastructure: {boundaries: {slices: {kind: virtualization, around: [gpu], hides: [gpu.power]}}}
components: {gpu: {power: 300, clock: 1 .. 10}}
loops:
  cap:
    inside: none
    timescale: {period: 1 s}
    trigger: gpu.power > 250
    actuation: {signal: gpu.clock, law: step, by: -1, bounds: [1, 10]}
```

## Instead
The loop runs where the signal can be seen (`inside: slices`), or reads one that passes the boundary.

## Source
What a boundary hides is stated by the design; which boundaries a reading crosses: docs/boundaries.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.shared_rates import around
from coherence.model.boundaries import HiddenReading, hidden_readings, stands_in

QUESTION = Question("COH507", "hidden-reading", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop, signal and boundary that hides it."""
    for hidden in hidden_readings(subject.design):
        if hidden.crosses is None:
            loop = hidden.loop.name
            needs = f"needs `inside` of {loop}: {hidden.boundary.name} hides {hidden.path} from one side"
            yield QUESTION.undecided(needs, _places(hidden), (loop, hidden.path))
        elif hidden.crosses:
            yield _conflict(subject, hidden)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof per loop, signal and boundary that hides it of which both lie on one side."""
    for hidden in hidden_readings(subject.design):
        if hidden.crosses is False:
            loop, path, boundary = hidden.loop.name, hidden.path, hidden.boundary.name
            message = f"{loop} and {path} lie on one side of {boundary}, which hides it from the other"
            here = stands_in(subject.design, hidden.loop) or frozenset()
            there = {enclosing.name for enclosing in around(subject.design, path.partition(".")[0])}
            sides = {"loop_inside": boundary in here, "signal_inside": boundary in there}
            facts = tuple(f"(= {name} {str(inside).lower()})" for name, inside in sides.items())
            script = Certificate(dict.fromkeys(sides, "Bool"), facts, "(= loop_inside signal_inside)").script()
            yield QUESTION.absent(message, _places(hidden), (loop, path), arithmetic({}, certificate=script))


def _conflict(subject: Subject, hidden: HiddenReading) -> Finding:
    loop, path, boundary = hidden.loop.name, hidden.path, hidden.boundary.name
    where = " and ".join(word.text for word in hidden.loop.inside)
    witness = (
        Step(None, f"{path} changes, on the other side of {boundary} than {loop} (inside: {where})"),
        Step(None, f"{boundary} hides {path}: no value of it comes to {loop}"),
        Step(None, f"{loop} decides without {path}, which it reads"),
    )
    return QUESTION.conflict(
        f"{loop} reads {path}, which {boundary} hides from it", _places(hidden), (loop, path),
        arithmetic({}, witness=witness), repairs=_repairs(subject, hidden),
    )  # fmt: skip


def _places(hidden: HiddenReading) -> tuple[Place, ...]:
    read, hides = f"{hidden.loop.name} reads {hidden.path}", f"{hidden.boundary.name} hides it"
    return (hidden.read.labelled(read), hidden.hides.place.labelled(hides))


def _repairs(subject: Subject, hidden: HiddenReading) -> Iterator[Repair]:
    """Yields the loop inside the boundary, where it runs outside of all."""
    (word, *others) = hidden.loop.inside
    old = repairs.text_at(subject.sources, word.place)
    if word.text == "none" and not others and old is not None:
        yield Repair((Edit(word.place, old, hidden.boundary.name),), "")
