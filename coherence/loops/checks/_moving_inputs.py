"""Inputs that move within their declared range: one change, or a wave of a given period, against the promises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.question_input import Subject
from coherence.loops.checks._groups import Broken, breaks, promises, tried
from coherence.model.model import Constant, Model
from coherence.simulate.execute.exact import Choices, Schedule
from coherence.simulate.execute.lookback import durations
from coherence.simulate.execute.orbits import hyperperiod
from coherence.simulate.execute.starts import corners
from coherence.simulate.execute.timeline import shown

WAVES, MOST_LAPS = 8, 400


@dataclass(frozen=True)
class Wave:
    """A promise that a moving input breaks and that it keeps while it stands still; how it moves, in words."""

    broken: Broken
    constant: Constant
    words: str


def varying(model: Model) -> tuple[Constant, ...]:
    """Inputs that are declared to vary within two different ends."""
    fixed = durations(model)
    return tuple(
        c for p, c in model.constants.items()
        if c.varies and p not in fixed and c.range.low is not None and c.range.high is not None and not c.range.exact
    )  # fmt: skip


def wave(subject: Subject, model: Model, period: Fraction) -> Wave | None:
    """Returns the first movement of a varying input that breaks an `always` or `never` promise."""
    if not any(True for _ in promises(subject, model)):
        return None
    return tried(lambda: next(_waves(subject, model, period), None))


def _waves(subject: Subject, model: Model, period: Fraction) -> Iterator[Wave]:
    lap = hyperperiod(model)
    half = max(1, round(period / 2 / lap)) * lap
    until = min(2 * WAVES * half + 20 * lap, MOST_LAPS * lap)
    start = next(iter(corners(model)))
    for constant in varying(model):
        low, high = constant.range.low, constant.range.high
        assert low is not None
        assert high is not None
        stands = [Choices({**start.values, constant.path: end}) for end in (low, high)]
        if any(breaks(subject, model, choices, until) for choices in stands):
            continue  # a matter of interacting-loops: it is broken without any movement
        for schedule, words in _movements(model, constant, low, high, half):
            choices = Choices({**start.values, constant.path: schedule[0][2]}, schedule=schedule[1:])
            broken = breaks(subject, model, choices, until)
            if broken is not None:
                yield Wave(broken, constant, words)


def _movements(
    model: Model, constant: Constant, low: Fraction, high: Fraction, half: Fraction
) -> Iterator[tuple[Schedule, str]]:
    """Schedules with what they say: a step each way, then waves that begin at either end."""
    path = constant.path
    for first, then in ((low, high), (high, low)):
        words = f"one change of {path} from {shown(model, path, first)} to {shown(model, path, then)}"
        yield ((Fraction(0), path, first), (half, path, then)), words
    for first, then in ((low, high), (high, low)):
        ends = f"{shown(model, path, low)} and {shown(model, path, high)}"
        words = f"{path} alternating between {ends} every {render_seconds(2 * half)}"
        yield tuple((k * half, path, then if k % 2 else first) for k in range(2 * WAVES)), words
