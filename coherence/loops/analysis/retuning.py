"""Retunes loops: safe factors, the shortest safe windows, and the nearest stable constants.

A linear margin is a number; a change of the design is offered only after exact execution of the changed design.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.errors import CoherenceError
from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.reads import with_changes
from coherence.findings import repairs
from coherence.findings.edited_designs import Rebuild, edited_subject
from coherence.findings.finding import Edit, Repair
from coherence.findings.question_input import Subject
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.schema_kinds import Quantity
from coherence.loops.analysis.design_analysis import GroupAnalysis
from coherence.loops.designs.feedback_groups import Deadline, structure
from coherence.loops.designs.group_runs import executed, from_bounds
from coherence.model.model import Interval, Model, SampledLoop
from coherence.simulate.execute.exact import MissingValueError

WINDOWS = 24  # multiples of the period that are tried for a window
PERIODS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), *map(Fraction, (1, 2, 3, 4, 6, 8, 12, 16, 24)))
GRID = 5  # points per declared range
MOST_RANGES = 3


@dataclass(frozen=True)
class Retuning:
    """One setting: `what` of `loop` and its `value` (SI), as `text`; `repair` where it is an edit that holds."""

    loop: str
    what: str
    value: Fraction | float | None
    text: str
    verified: str
    repair: Repair | None = None


def retuned(group: GroupAnalysis, subject: Subject, rebuild: Rebuild, deadline: Deadline) -> tuple[Retuning, ...]:
    """Returns all settings that were found for one group."""
    tunings = [*_gains(group)]
    if group.verdict == "oscillates":
        for loop in group.group.loops:
            tunings += _windows(group, loop, subject, rebuild, deadline.share(0.5))
        tunings += _nearest(group, subject, rebuild, deadline)
    elif group.verdict == "settles":
        for loop in group.group.loops:
            tunings += _shorter(group, loop, subject, rebuild, deadline.share(0.5))
    return tuple(tunings)


def _gains(group: GroupAnalysis) -> Iterator[Retuning]:
    """Yields the largest safe factor on each law, linearised; it is no key of a design but of `by`."""
    for point in group.points:
        if not point.point.real:
            continue
        for margin in point.loops:
            if margin.gain_high is None or math.isinf(margin.gain_high) or not margin.certified:
                continue
            text = f"{margin.loop}: largest safe factor on its law {margin.gain_high:.5g}"
            verified = "exact root counts on both sides of the edge, linearised"
            yield Retuning(margin.loop, "gain", margin.gain_high, f"{text} [linearised]", verified)


def settles(model: Model, deadline: Deadline) -> bool | None:
    """Decides whether all groups of a model settle in exact runs from their own starts and from the ends of their
    bounds.

    None: not decided.
    """
    for group in structure(model).groups:
        signals = group.signals
        try:
            answer = executed(group.model, signals, deadline)
        except (NotExactError, MissingValueError):
            return None
        answers = [answer, from_bounds(group.model, signals, deadline)] if answer.verdict == "settles" else [answer]
        if any(run_answer.verdict == "oscillates" for run_answer in answers):
            return False
        if answer.verdict != "settles":
            return None
        if any(run_answer.verdict != "settles" and run_answer.starts for run_answer in answers):
            return None
    return True


def _with(model: Model, name: str, **change: Any) -> Model:
    loops = tuple(with_changes(loop, **change) if loop.name == name else loop for loop in model.loops)
    return replace(model, loops=loops)


@dataclass(frozen=True)
class SafeSetting:
    """The smallest of the settings that were run from which on the next one is safe as well.

    `undecided`: smaller ones of which runs decided nothing; `last`: no larger one was run.
    """

    value: Fraction
    undecided: int
    last: bool


def _first_safe(
    candidates: Sequence[Fraction], safe: Callable[[Fraction], bool | None], deadline: Deadline
) -> SafeSetting | None:
    """Returns the first safe setting of rising ones; None where there is none, or the time is over."""
    before, undecided = None, 0
    for candidate in candidates:
        if deadline.over:
            return None
        good = safe(candidate)
        if good and before is not None:
            return SafeSetting(before, undecided, last=False)
        before = candidate if good else None
        undecided += good is None
    return None if before is None else SafeSetting(before, undecided, last=True)


def _windows(
    group: GroupAnalysis, loop: SampledLoop, subject: Subject, rebuild: Rebuild, deadline: Deadline
) -> Iterator[Retuning]:
    """Yields the smallest safe hold-down, cooldown and period of a loop that swings."""
    model, step = group.group.model, loop.period
    multiples = [step * count for count in range(1, WINDOWS + 1)]
    settings: list[tuple[str, str, list[Fraction]]] = []
    if loop.law == "proportional":
        settings.append(("hold_down", "hold-down", [m for m in multiples if m > loop.hold_down]))
    if loop.law != "none":
        settings.append(("cooldown", "cooldown", [m for m in multiples if m > (loop.cooldown or 0)]))
    settings.append(("period", "period", [step * factor for factor in PERIODS if factor > 1]))
    for key, word, candidates in settings:
        share = deadline.share(0.45)

        def safe(candidate: Fraction, key: str = key, share: Deadline = share) -> bool | None:
            return settles(_with(model, loop.name, **{key: candidate}), share)

        shortest = _first_safe(candidates, safe, share)
        if shortest is not None:
            yield _offered(loop, key, word, shortest, subject, rebuild, deadline)


def _shorter(
    group: GroupAnalysis, loop: SampledLoop, subject: Subject, rebuild: Rebuild, deadline: Deadline
) -> Iterator[Retuning]:
    """Yields the smallest window that still settles, of a loop that has one."""
    for key, word, now in (("hold_down", "hold-down", loop.hold_down), ("cooldown", "cooldown", loop.cooldown)):
        if not now:
            continue
        shorter = [loop.period * count for count in range(WINDOWS + 1) if loop.period * count < now]
        share = deadline.share(0.45)

        def safe(candidate: Fraction, key: str = key, share: Deadline = share) -> bool | None:
            return settles(_with(group.group.model, loop.name, **{key: candidate}), share)

        shortest = _first_safe([*shorter, now], safe, share)
        if shortest is not None and shortest.value < now:
            yield _offered(loop, key, word, shortest, subject, rebuild, deadline)


def _offered(
    loop: SampledLoop, key: str, word: str, safe: SafeSetting, subject: Subject, rebuild: Rebuild, deadline: Deadline
) -> Retuning:
    repair, verified = _checked(_edit(loop, key, safe.value, subject), subject, rebuild, deadline)
    steps = "the longest that was run" if safe.last else "and one step more"
    unknown = f"; {safe.undecided} smaller undecided" if safe.undecided else ""
    smallest = f"{loop.name}: smallest safe {word} of those that were run {render_seconds(safe.value)}"
    text = f"{smallest}, {steps}{unknown} ({verified}) [simulated]"
    return Retuning(loop.name, key, safe.value, text, verified, repair)


def _edit(loop: SampledLoop, key: str, duration: Fraction, subject: Subject) -> Edit | None:
    timescale = loop.source.timescale
    stated = getattr(timescale, key) if timescale is not None else None
    if isinstance(stated, Quantity) and stated.place.file in subject.sources:
        return repairs.change(subject, stated, duration)
    text = repairs.duration_text(subject, duration)
    if timescale is not None and timescale.period is not None and timescale.period.place.file in subject.sources:
        return repairs.insert(subject, timescale.period.place, key, text)
    return _new_timescale(loop, key, text, subject)


def _new_timescale(loop: SampledLoop, key: str, text: str, subject: Subject) -> Edit | None:
    """Returns a line `timescale: {...}` under the loop, where it states none of its own."""
    source = loop.source
    own = source.timescale is None or all(
        getattr(source.timescale, name) is None or getattr(source.timescale, name).place.file not in subject.sources
        for name in ("period", "phase", "hold_down", "hold_up", "cooldown", "lands")
    )
    if not own or source.part is None or source.part.place.file not in subject.sources:
        return None
    return repairs.insert(subject, source.part.place, "timescale", f"{{{key}: {text}}}")


def _checked(edit: Edit | None, subject: Subject, rebuild: Rebuild, deadline: Deadline) -> tuple[Repair | None, str]:
    """Returns the repair, if the edited design settles by exact execution."""
    repair = repairs.proposal(edit)
    try:
        changed = edited_subject(subject, repair.edits, rebuild) if repair is not None else None
        if repair is None or changed is None:
            return None, "exact execution, also from the ends of its bounds; no key of the design states it"
        good = settles(changed.model, deadline)
    except (CoherenceError, ArithmeticError) as error:
        return None, f"exact execution of the model; the edited design is refused: {str(error).splitlines()[0]}"
    if not good:
        return None, "exact execution of the group; not all loops of the edited design settle"
    verified = "re-checked by exact execution, also from the ends of its bounds"
    return replace(repair, verified=verified), verified


def _nearest(group: GroupAnalysis, subject: Subject, rebuild: Rebuild, deadline: Deadline) -> Iterator[Retuning]:
    """Yields the nearest point in declared ranges (`a .. b`) at which the group settles."""
    model = group.group.model
    ranges = {p: c.range for p, c in model.constants.items() if not c.range.exact and not c.varies}
    bounded = {p: r for p, r in ranges.items() if r.low is not None and r.high is not None}
    if not bounded or len(bounded) != len(ranges) or len(bounded) > MOST_RANGES:
        return
    grid = sorted(itertools.product(range(GRID), repeat=len(bounded)), key=lambda point: (sum(point), point))
    for point in grid:  # from the lower ends, where execution begins
        if deadline.over:
            return
        chosen = {p: _part(r, k) for (p, r), k in zip(bounded.items(), point, strict=True)}
        fixed = {p: replace(model.constants[p], range=Interval(v, v)) for p, v in chosen.items()}
        if settles(replace(model, constants={**model.constants, **fixed}), deadline):
            settings = ", ".join(f"{p} = {render_decimal(v)}" for p, v in chosen.items())
            edits = [_constant(subject, p, v) for p, v in chosen.items()]
            proposal = repairs.proposal(*edits)
            repair, verified = None, "exact execution from the ends of what is left open"
            changed = edited_subject(subject, proposal.edits, rebuild) if proposal is not None else None
            if proposal is not None and changed is not None:
                good = settles(changed.model, deadline)
                repair = replace(proposal, verified="re-checked: the edited design settles") if good else None
            text = f"nearest stable point of the declared ranges: {settings} ({verified}) [simulated]"
            yield Retuning(" and ".join(group.group.names), "constants", None, text, verified, repair)
            return


def _part(interval: Interval, k: int) -> Fraction:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low + (interval.high - interval.low) * k / (GRID - 1)


def _constant(subject: Subject, path: str, number: Fraction) -> Edit | None:
    """Returns the edit of a constant of a component or workload."""
    owner, _, key = path.rpartition(".")
    tables: list[Mapping[str, object]] = [subject.design.components, subject.design.workload]
    for table in tables:
        constants = getattr(table.get(owner), "constants", {})
        quantity = constants.get(key)
        if isinstance(quantity, Quantity):
            return repairs.change(subject, quantity, number)
    return None
