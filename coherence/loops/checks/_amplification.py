"""Answers of `amplification`: the peak of the sensitivity of each loop of a group that settles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_clock
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._groups import Numbers, groups, linear_at, runs, swings, tried, witnessed
from coherence.loops.checks._moving_inputs import Wave, wave
from coherence.loops.checks._responses import ResponsePeak, disturbed, peak, response, system
from coherence.loops.designs.groups import Group, place
from coherence.loops.designs.linear import Linear
from coherence.model.model import SampledLoop
from coherence.simulate.execute.timeline import told_choices

THRESHOLD = 2.0  # SOURCE: Skogestad and Postlethwaite, Multivariable Feedback Control, 2nd ed., 2.4.3 (6 dB)


@dataclass(frozen=True)
class Resonance:
    """The sensitivity peak of one loop, and how far its command then swings per swing of its reading."""

    loop: SampledLoop
    peak: ResponsePeak
    command: float | None


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that settles and amplifies what disturbs its reading more than twice."""
    for group in groups(subject):
        linear = linear_at(subject, group)
        if linear is None or linear.verdict.stable is not True:
            continue
        if any(swings(group, run) for run in runs(subject, group)):
            continue  # it does not settle: sustained-oscillation's matter
        for loop in group.loops:
            wave = tried(resonance, group, loop, linear)
            if wave is not None and wave.peak.low > THRESHOLD:
                yield _answer(question, subject, group, linear, wave)


def resonance(group: Group, loop: SampledLoop, linear: Linear) -> Resonance | None:
    """Returns the sensitivity peak of one loop, all others closed."""
    if loop.measured is None:
        return None
    model, noise, seen = disturbed(group.model, loop)
    near = {**linear.point, noise: Fraction(0), seen: Fraction(0)}
    responding = system(model, noise, [seen, loop.signal], near)
    top = peak(response(responding, seen), responding.lap) if responding else None
    if responding is None or top is None:
        return None
    command, level = responding.point[loop.signal], responding.point[seen]
    size = abs(response(responding, loop.signal).at(top.angle))
    return Resonance(loop, top, size * float(level / command) if command and level else None)


def _answer(question: Question, subject: Subject, group: Group, linear: Linear, resonance: Resonance) -> Finding:
    loop, numbers = resonance.loop, _numbers(linear, resonance)
    period = Fraction(resonance.peak.period) if math.isfinite(resonance.peak.period) else linear.lap
    broken = wave(subject, group.model, period)
    conflict = _conflict(question, group, loop, numbers, broken) if broken else None
    if conflict is not None:
        return conflict
    rhythm = f"every {render_clock(_rounded(period))}" if math.isfinite(resonance.peak.period) else "that lasts"
    swing = f", its command {resonance.command:.3g} times as much" if resonance.command else ""
    left = "left out: " + ", ".join(linear.dropped) if linear.dropped else ""
    method = "peak of the exact transfer function of one lap"
    evidence = Evidence(Grade.LINEARISED, method, numbers=numbers, bound=left)
    count = len(linear.branches)
    settles = "settles" if count == 1 else f"settles in each of {count} branches"
    message = (
        f"{loop.name} {settles}, but amplifies what disturbs its reading: a swing {rhythm} comes out "
        f"{resonance.peak.low:.3g} times as large{swing}"
    )
    return question.note(
        message, (place(loop), *(place(x) for x in group.loops if x is not loop)), group.names, evidence
    )


def _rounded(period: Fraction) -> Fraction:
    return Fraction(round(period * 10), 10)


def _numbers(linear: Linear, resonance: Resonance) -> Numbers:
    numbers: Numbers = {
        "peak sensitivity": (resonance.peak.low, ""),
        "proved below": (resonance.peak.high, ""),
        "threshold": (THRESHOLD, ""),
        "growth per lap": (linear.verdict.modulus, ""),
    }
    if math.isfinite(resonance.peak.period):
        numbers |= {
            "resonance period": (resonance.peak.period, "s"),
            "resonance frequency": (1 / resonance.peak.period, "1/s"),
        }
    if resonance.command:
        numbers["command per reading"] = (resonance.command, "")
    return numbers


def _conflict(question: Question, group: Group, loop: SampledLoop, numbers: Numbers, wave: Wave) -> Finding | None:
    broken = wave.broken
    evidence = witnessed(group.model, broken.choices, broken.instants, "exact execution with a moving input", numbers)
    if evidence is None:
        return None
    at = render_clock(broken.instants[-1].time)
    message = f"{wave.words} breaks `{broken.promise.text}` after {at}; held still at either end it keeps it"
    places = (
        place(loop), broken.promise.place.labelled("this promise"), wave.constant.place.labelled("this may vary"),
    )  # fmt: skip
    of = (*group.names, broken.promise.name)
    choices = told_choices(group.model, broken.choices)
    return question.conflict(
        message, places, of, evidence, certain=False, assumptions=(*choices, *group.model.abstractions)
    )
