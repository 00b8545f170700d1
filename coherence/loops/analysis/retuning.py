"""Retuning: how far a loop may be turned up, how short its windows may be, and the nearest constants that are stable.

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
from coherence.base.units import decimal, seconds
from coherence.findings import repairs
from coherence.findings.finding import Edit, Repair
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.schema_kinds import Quantity
from coherence.loops.analysis.design_analysis import GroupAnalysis
from coherence.loops.designs.feedback_groups import Deadline, structure
from coherence.loops.designs.group_runs import executed, from_bounds
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, Model, SampledLoop
from coherence.simulate.execute.exact import MissingValueError

WINDOWS = 24  # multiples of the period that are tried for a window
PERIODS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), *map(Fraction, (1, 2, 3, 4, 6, 8, 12, 16, 24)))
GRID = 5  # points per declared range
MOST_RANGES = 3

Rebuild = Callable[[Mapping[str, str]], Design]


@dataclass(frozen=True)
class Retuning:
    """One setting: `what` of `loop` and its `value` (SI), told in words; `repair` where it is an edit that holds."""

    loop: str
    what: str
    value: Fraction | float | None
    told: str
    verified: str
    repair: Repair | None = None


def retuned(one: GroupAnalysis, subject: Subject, rebuild: Rebuild, deadline: Deadline) -> tuple[Retuning, ...]:
    """Everything that was found for one group."""
    found = [*_gains(one)]
    if one.verdict == "oscillates":
        for loop in one.group.loops:
            found += _windows(one, loop, subject, rebuild, deadline.share(0.5))
        found += _nearest(one, subject, rebuild, deadline)
    elif one.verdict == "settles":
        for loop in one.group.loops:
            found += _shorter(one, loop, subject, rebuild, deadline.share(0.5))
    return tuple(found)


def _gains(one: GroupAnalysis) -> Iterator[Retuning]:
    """The largest safe factor on each law, linearised; it is no key of a design but of `by`."""
    for point in one.points:
        if not point.point.real:
            continue
        for found in point.loops:
            if found.gain_high is None or math.isinf(found.gain_high) or not found.certified:
                continue
            told = f"{found.loop}: largest safe factor on its law {found.gain_high:.5g}"
            verified = "exact root counts on both sides of the edge, linearised"
            yield Retuning(found.loop, "gain", found.gain_high, f"{told} [linearised]", verified)


def settles(model: Model, deadline: Deadline) -> bool | None:
    """Do all groups of a model settle, by exact execution from their own starts and from the ends of their bounds?

    None: not decided.
    """
    for group in structure(model).groups:
        signals = tuple(dict.fromkeys(loop.signal for loop in group.loops if loop.signal))
        try:
            answer = executed(group.model, signals, deadline)
        except (NotExactError, MissingValueError):
            return None
        answers = [answer, from_bounds(group.model, signals, deadline)] if answer.verdict == "settles" else [answer]
        if any(one.verdict == "oscillates" for one in answers):
            return False
        if any(one.verdict != "settles" and one.starts for one in answers):
            return None
    return True


def _with(model: Model, name: str, **change: Any) -> Model:
    loops = tuple(replace(loop, **change) if loop.name == name else loop for loop in model.loops)
    return replace(model, loops=loops)


def _first_safe(
    candidates: Sequence[Fraction], safe: Callable[[Fraction], bool | None], deadline: Deadline
) -> Fraction | None:
    """The smallest candidate from which on the next one is safe as well."""
    last = None
    for candidate in candidates:
        if deadline.over:
            return None
        good = safe(candidate)
        if good and last is not None:
            return last
        last = candidate if good else None
    return last


def _windows(
    one: GroupAnalysis, loop: SampledLoop, subject: Subject, rebuild: Rebuild, deadline: Deadline
) -> Iterator[Retuning]:
    """Smallest safe hold-down, cooldown and period of a loop that swings."""
    model, step = one.group.model, loop.period
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

        found = _first_safe(candidates, safe, share)
        if found is not None:
            yield _offered(loop, key, word, found, subject, rebuild, deadline)


def _shorter(
    one: GroupAnalysis, loop: SampledLoop, subject: Subject, rebuild: Rebuild, deadline: Deadline
) -> Iterator[Retuning]:
    """Smallest window that still settles, of a loop that has one."""
    for key, word, now in (("hold_down", "hold-down", loop.hold_down), ("cooldown", "cooldown", loop.cooldown)):
        if not now:
            continue
        shorter = [loop.period * count for count in range(WINDOWS + 1) if loop.period * count < now]
        share = deadline.share(0.45)

        def safe(candidate: Fraction, key: str = key, share: Deadline = share) -> bool | None:
            return settles(_with(one.group.model, loop.name, **{key: candidate}), share)

        found = _first_safe([*shorter, now], safe, share)
        if found is not None and found < now:
            yield _offered(loop, key, word, found, subject, rebuild, deadline)


def _offered(
    loop: SampledLoop, key: str, word: str, found: Fraction, subject: Subject, rebuild: Rebuild, deadline: Deadline
) -> Retuning:
    repair, verified = _checked(_edit(loop, key, found, subject), subject, rebuild, deadline)
    told = f"{loop.name}: smallest safe {word} {seconds(found)}, and one step more ({verified})"
    return Retuning(loop.name, key, found, told, verified, repair)


def _edit(loop: SampledLoop, key: str, found: Fraction, subject: Subject) -> Edit | None:
    timescale = loop.source.timescale
    stated = getattr(timescale, key) if timescale is not None else None
    if isinstance(stated, Quantity) and stated.place.file in subject.sources:
        return repairs.change(subject, stated, found)
    text = repairs.duration_text(subject, found)
    if timescale is not None and timescale.period is not None and timescale.period.place.file in subject.sources:
        return repairs.insert(subject, timescale.period.place, key, text)
    return _new_timescale(loop, key, text, subject)


def _new_timescale(loop: SampledLoop, key: str, text: str, subject: Subject) -> Edit | None:
    """A line `timescale: {...}` under the loop, where it states none of its own."""
    source = loop.source
    own = source.timescale is None or all(
        getattr(source.timescale, name) is None or getattr(source.timescale, name).place.file not in subject.sources
        for name in ("period", "phase", "hold_down", "hold_up", "cooldown", "lands")
    )
    if not own or source.part is None or source.part.place.file not in subject.sources:
        return None
    return repairs.insert(subject, source.part.place, "timescale", f"{{{key}: {text}}}")


def _checked(edit: Edit | None, subject: Subject, rebuild: Rebuild, deadline: Deadline) -> tuple[Repair | None, str]:
    """The repair, if the edited design settles by exact execution."""
    made = repairs.proposal(edit)
    sources = repairs.apply(made.edits, subject.sources) if made is not None else None
    if made is None or sources is None:
        return None, "exact execution, also from the ends of its bounds; no key of the design states it"
    try:
        changed = elaborate(rebuild(sources))
        good = settles(changed, deadline)
    except (CoherenceError, ArithmeticError) as error:
        return None, f"exact execution of the model; the edited design is refused: {str(error).splitlines()[0]}"
    if not good:
        return None, "exact execution of the group; not all loops of the edited design settle"
    verified = "re-checked by exact execution, also from the ends of its bounds"
    return replace(made, verified=verified), verified


def _nearest(one: GroupAnalysis, subject: Subject, rebuild: Rebuild, deadline: Deadline) -> Iterator[Retuning]:
    """The nearest point in declared ranges (`a .. b`) at which the group settles."""
    model = one.group.model
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
            told = ", ".join(f"{p} = {decimal(v)}" for p, v in chosen.items())
            edits = [_constant(subject, p, v) for p, v in chosen.items()]
            made = repairs.proposal(*edits)
            repair, verified = None, "exact execution from the ends of what is left open"
            if made is not None and (sources := repairs.apply(made.edits, subject.sources)) is not None:
                good = settles(elaborate(rebuild(sources)), deadline)
                repair = replace(made, verified="re-checked: the edited design settles") if good else None
            text = f"nearest stable point of the declared ranges: {told} ({verified})"
            yield Retuning(" and ".join(one.group.names), "constants", None, text, verified, repair)
            return


def _part(interval: Interval, k: int) -> Fraction:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low + (interval.high - interval.low) * k / (GRID - 1)


def _constant(subject: Subject, path: str, number: Fraction) -> Edit | None:
    """The edit of a constant of a component or workload."""
    owner, _, key = path.rpartition(".")
    tables: list[Mapping[str, object]] = [subject.design.components, subject.design.workload]
    for table in tables:
        constants = getattr(table.get(owner), "constants", {})
        quantity = constants.get(key)
        if isinstance(quantity, Quantity):
            return repairs.change(subject, quantity, number)
    return None
