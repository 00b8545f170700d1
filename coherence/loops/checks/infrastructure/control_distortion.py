"""control distortion: loops that come to rest by themselves, and not across the boundary around what they act on.

## What
For each group of sampled loops in feedback that acts or looks across a boundary (of virtual machines, or of no stated
kind), `sustained-oscillation` is asked again of the design in which the boundary leaves commands and readings as they
are.  Loops that swing across it and settle without it are distorted by it.  Which of its values do it is asked as well,
delays first: without `gain` and `granularity`, and without delays.

Loops that swing without the boundary too are no matter of the boundary, and one that only has an overhead (a constant
gain under which they settle) is slower and obedient: `sustained-oscillation` proves that they settle across it.

## Why it hurts
The hypervisor starts a member half a minute later than its autoscaler believes.  Every command is carried out, each on
its own looks right, and the loop swings between its bounds.

## Example
```yaml
coherence: 1
infrastructure: {boundaries: {vms: {kind: virtualization, around: [pool], added_delay: 16 s}}}
components: {pool: {desired: 0.5 .. 400, load: 20, util: load / desired}}
loops:
  hpa:
    inside: none
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, count: commanded, from: 20, bounds: [1, 400.5]}
```

## Instead
A period that is longer than the delay: `period: 17 s`.  Or `count: landed`: the law multiplies what has come.

## Source
K. J. Astrom and B. Wittenmark, Computer-Controlled Systems (1997): a delay of one period turns an integrator of gain
one into an oscillator.  Barham et al., Xen and the Art of Virtualization, SOSP 2003.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject

if TYPE_CHECKING:
    from coherence.language.schema_kinds import Quantity
    from coherence.loops.designs.groups import Group

QUESTION = Question("COH504", "control-distortion", "ai.14 virtualization stability", slow=True, proves=False)
QUESTIONS = (QUESTION,)
KEYS = ("added_delay", "reading_delay", "gain", "reading_gain", "granularity")


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per group of loops that a boundary keeps from settling, or may."""
    for group, values in _crossing(subject):
        yield from _answer(subject, group, values)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields the proof that loops settle across all boundaries that they meet."""
    from coherence.loops.checks.infrastructure._what_lies_between import is_rest, settle, verdict_about

    for group, values in _crossing(subject):
        across = verdict_about(subject, subject.design, group.names)
        if across is not None and is_rest(across):
            message = f"{settle(group.names)} across {_where(values)}"
            of, evidence = group.names, across.evidence
            yield QUESTION.absent(message, across.places, of, evidence, assumptions=across.assumptions)


def _crossing(subject: Subject) -> Iterator[tuple[Group, dict[str, Quantity]]]:
    """Yields the groups of loops that meet a boundary of virtual machines, with what it says."""
    boundaries = [b for b in subject.design.boundaries.values() if b.kind is None or b.kind.text == "virtualization"]
    stated = any(b.added_delay or b.reading_delay or b.constants.keys() & set(KEYS) for b in boundaries)
    if not stated or not any(loop.inside for loop in subject.design.loops.values()):
        return
    from coherence.loops.checks.infrastructure._what_lies_between import crossed
    from coherence.loops.designs.groups import groups

    names = {boundary.name for boundary in boundaries}
    for group in groups(subject):
        values = crossed(subject.design, group)
        own = {name: value for name, value in values.items() if name.partition(".")[0] in names}
        if own:
            yield group, own


def _answer(subject: Subject, group: Group, values: dict[str, Quantity]) -> Iterator[Finding]:
    from coherence.loops.checks.infrastructure._what_lies_between import (
        is_open,
        is_rest,
        settle,
        swings,
        verdict_about,
        without,
    )

    across = verdict_about(subject, subject.design, group.names)
    if across is not None and is_open(across):
        places = (*_places(values), *across.places)
        message = f"whether {settle(group.names)} across {_where(values)} is open: {across.message}"
        yield QUESTION.undecided(message, places, group.names)
    if across is None or not swings(across):
        return
    alone = verdict_about(subject, without(subject.design, KEYS), group.names)
    if is_rest(alone):
        yield _conflict(subject, group, values, across)
    elif not swings(alone):
        reason = alone.message if alone is not None else "they are no group"
        places = (*_places(values), *across.places)
        message = f"whether {settle(group.names)} without {_where(values)} is open: {reason}"
        yield QUESTION.undecided(message, places, group.names)


def _conflict(subject: Subject, group: Group, values: dict[str, Quantity], across: Finding) -> Finding:
    from coherence.loops.checks.infrastructure._what_lies_between import delay_of, settle, slower

    delay, period = delay_of(values), _period(subject, group)
    message = (
        f"{settle(group.names)} without {_where(values)} and never across it: "
        f"{_cause(subject, group, delay)}{_in_periods(delay, period)}; {across.message}"
    )
    evidence = replace(across.evidence, numbers={**across.evidence.numbers, "delay across": (delay, "s")})
    if period:
        evidence = replace(evidence, numbers={**evidence.numbers, "delay in periods": (delay / period, "of a period")})
    return QUESTION.conflict(
        message, (*_places(values), *across.places), group.names, evidence, certain=across.certainty == "certain",
        assumptions=across.assumptions, repairs=slower(subject, group.names, delay) if delay else (),
    )  # fmt: skip


def _cause(subject: Subject, group: Group, delay: Fraction) -> str:
    """Returns which values of the boundary alone keep the loops from settling; delays are asked first."""
    from coherence.loops.checks.infrastructure._what_lies_between import DELAYS, GAINS, swings, verdict_about, without

    if delay and swings(verdict_about(subject, without(subject.design, GAINS), group.names)):
        return "its delay alone does it"
    if not delay or swings(verdict_about(subject, without(subject.design, DELAYS), group.names)):
        return "what it makes of values alone does it, not its delay" if delay else "it is what it makes of values"
    return "its delay and what it makes of values do it together"


def _in_periods(delay: Fraction, period: Fraction) -> str:
    return f" ({render_seconds(delay)}, {render_decimal(delay / period)} of a period)" if delay and period else ""


def _period(subject: Subject, group: Group) -> Fraction:
    """Returns the shortest period of the group (s); 0 where none is stated."""
    scales = [subject.design.loops[name].timescale for name in group.names]
    periods = [scale.period.low for scale in scales if scale is not None and scale.period is not None]
    return min(periods, default=Fraction(0))


def _where(values: dict[str, Quantity]) -> str:
    return " and ".join(dict.fromkeys(name.partition(".")[0] for name in values))


def _places(values: dict[str, Quantity]) -> tuple[Place, ...]:
    return tuple(value.place.labelled(f"{name} lies between") for name, value in values.items())
