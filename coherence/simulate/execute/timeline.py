"""Renders a run as a timeline: who wrote what, from when to when, and which modes switched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_clock, render_quantity, render_seconds
from coherence.findings.finding import Step
from coherence.model.model import Model, unit_of
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Action, Choices, Instant
from coherence.simulate.execute.open_ranges import ends_taken

MOST_SHOWN = 6  # values of what varies in a run


def shown(model: Model, path: str, value: object) -> str:
    """Returns a value with the unit of its signal."""
    return render_quantity(plain(value), unit_of(model, path))


@dataclass(slots=True)
class _Span:
    first: Action
    start: Fraction
    end: Fraction
    last: Action
    count: int = 1


def timeline(model: Model, instants: Sequence[Instant], watch: Iterable[str] = ()) -> tuple[Step, ...]:
    """One step per switch and per unbroken series of writes by one loop in one direction."""
    steps: list[Step] = []
    open_: dict[str, _Span] = {}
    watched = tuple(dict.fromkeys(watch))
    for instant in instants:
        for name, on in instant.switched:
            if not any(loop.name == name and (loop.relay or not loop.signal) for loop in model.loops):
                continue
            steps += [_step(model, span) for span in open_.values()]
            open_.clear()
            seen = ", ".join(f"{p} = {shown(model, p, instant.sampled[p])}" for p in watched if p in instant.sampled)
            steps.append(Step(instant.time, f"{name} {'on' if on else 'off'}" + (f" ({seen})" if seen else "")))
        for action in instant.actions:
            opposed = [name for name, span in open_.items() if _opposes(span.first, action)]
            steps += [_step(model, open_.pop(name)) for name in opposed]
            _extend(steps, open_, action, instant.time, model)
    steps += [_step(model, span) for span in open_.values()]
    return tuple(sorted(steps, key=lambda step: step.time or Fraction(0)))


def _extend(steps: list[Step], open_: dict[str, _Span], action: Action, time: Fraction, model: Model) -> None:
    span = open_.get(action.loop)
    if span is not None and _rising(span.last) == _rising(action):
        span.end, span.last, span.count = time, action, span.count + 1
        return
    if span is not None:
        steps.append(_step(model, span))
    open_[action.loop] = _Span(action, time, time, action)


def _opposes(one: Action, other: Action) -> bool:
    return one.loop != other.loop and one.signal == other.signal and _rising(one) != _rising(other)


def _rising(action: Action) -> bool:
    return bool(action.after > action.before)


def _step(model: Model, span: _Span) -> Step:
    verb = "raises" if _rising(span.first) else "lowers"
    path = span.first.signal
    ends = f"{shown(model, path, span.first.before)} -> {shown(model, path, span.last.after)}"
    times = f" in {span.count} writes until {render_clock(span.end)}" if span.count > 1 else ""
    return Step(span.start, f"{span.first.loop} {verb} {path} {ends}{times}")


def told_constants(model: Model, choices: Choices) -> tuple[str, ...]:
    """Returns the numbers that a choice gives to open constants, in words."""
    return tuple(f"{p} = {shown(model, p, value)}" for p, value in choices.values.items() if p in model.constants)


def told_choices(model: Model, choices: Choices) -> tuple[str, ...]:
    """Returns what the run assumed where the design leaves it open."""
    courses: dict[str, list[str]] = {}
    for at, path, value in choices.schedule:
        courses.setdefault(path, []).append(f"{shown(model, path, value)} at {render_seconds(at)}")
    varied = [
        f"{path} = {', '.join(course[:MOST_SHOWN])}{' and so on' if len(course) > MOST_SHOWN else ''}"
        for path, course in courses.items()
    ]
    values = [
        f"{path} starts at {shown(model, path, value)}"
        if path in {**model.states, **model.commands}
        else f"{path} = {shown(model, path, value)}"
        for path, value in choices.values.items()
        if path not in courses
    ]
    phases = [f"phase of {name} = {render_seconds(phase)}" for name, phase in choices.phases.items() if phase]
    free = [loop.name for loop in model.loops if loop.phase is None and not choices.phases.get(loop.name)]
    if free and len(model.loops) + len(model.states) > 1:
        phases.append(f"phase of {', '.join(free)} = 0 s")
    order = [f"order {' then '.join(choices.order)}"] if choices.order else []
    return (*values, *varied, *ends_taken(model), *phases, *order)
