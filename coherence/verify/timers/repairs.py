"""Makes edits by which a timer fires later or earlier, each with a margin of a tenth; re-checked by the analysis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.findings import repairs
from coherence.findings.finding import Edit, Repair
from coherence.findings.question_input import Subject
from coherence.language.design import Timer
from coherence.language.entries.jitter import shift_of
from coherence.language.entries.probes import longest_spacing
from coherence.language.roles import role
from coherence.language.schema_kinds import Quantity
from coherence.verify.timers.firing import firing, misses_of

MARGIN = Fraction(11, 10)
STARTUP = "startup"  # the name of a probe that a repair adds


def later(subject: Subject, timer: Timer, than: Fraction) -> Iterator[Repair]:
    """Yields repairs after which the earliest firing lies more than a tenth above `than` seconds."""
    goal = than * MARGIN - shift_of(timer.jitter)[0]
    if timer.every is None:
        key, span = _once(timer)
        yield from _set(subject, timer, key, span, repairs.upward_round(goal))
        return
    few, _ = misses_of(timer)
    first = timer.first.low if timer.first is not None else Fraction(0)
    yield from _misses(subject, timer, math.ceil((goal - first) / timer.every.low) + 1 if timer.every.low else 0)
    if timer.first is not None:
        yield from _set(subject, timer, "first", timer.first, repairs.upward_round(goal - (few - 1) * timer.every.low))


def sooner(subject: Subject, timer: Timer, than: Fraction) -> Iterator[Repair]:
    """Yields repairs after which the latest firing lies more than a tenth below `than` seconds."""
    fires = firing(timer)
    if fires is None or fires.window.latest is None:
        return
    goal = than / MARGIN
    key, span = _once(timer) if timer.every is None else ("first", timer.first)
    if span is not None:
        yield from _set(subject, timer, key, span, repairs.downward_round(goal - (fires.window.latest - span.high)))
    if timer.every is not None:
        spacing = longest_spacing(timer)
        spare = math.ceil((fires.window.latest - goal) / spacing) if spacing else 0
        yield from _misses(subject, timer, misses_of(timer)[1] - spare)


def begin_with(subject: Subject, timer: Timer, event: str) -> Iterator[Repair]:
    """Yields the repair that runs the timer from another event."""
    start = timer.start
    if start is not None and repairs.text_at(subject.sources, start.place) == start.text:
        yield Repair((Edit(start.place, start.text, event),), "")


def startup_probe(subject: Subject, timer: Timer, longest: Fraction) -> Iterator[Repair]:
    """Yields the repair that gives a start a probe of its own, and runs the timer from the end of the start."""
    start, end, then, every = timer.start, timer.unless, timer.then, timer.every
    if start is None or end is None or then is None or every is None or start == end or every.low <= 0:
        return
    if STARTUP in subject.design.timers or (timer.part is not None and timer.part.text != "liveness_probe"):
        return
    if not _is_start(subject, start.subject):
        return
    misses = math.ceil(longest * MARGIN / every.low) + 1
    probe = f"{{from: {start.text}, every: {render_seconds(every.low)}, misses: {misses}, unless: {end.text}"
    beside = repairs.insert_before(subject, timer.place, STARTUP, f"{probe}, then: {then.text}}}")
    own = repairs.text_at(subject.sources, start.place)
    begins = Edit(start.place, start.text, end.text) if own == start.text else None
    repair = repairs.proposal(beside, begins)
    if repair is not None:
        yield repair


def _is_start(subject: Subject, activity: str) -> bool:
    """Decides whether something may be a start: the thing as a whole, or the activity that has this role."""
    thing, _, name = activity.partition(".")
    component = subject.design.components.get(thing)
    return component is None or not name or role(component, name) == "start"


def _once(timer: Timer) -> tuple[str, Quantity | None]:
    if isinstance(timer.after, Quantity):
        return "after", timer.after
    return "first", timer.first


def _misses(subject: Subject, timer: Timer, count: int) -> Iterator[Repair]:
    stated = timer.misses if isinstance(timer.misses, Quantity) else None
    if count >= 1 and timer.misses is stated:
        yield from _set(subject, timer, "misses", stated, Fraction(count))


def _set(subject: Subject, timer: Timer, key: str, stated: Quantity | None, value: Fraction) -> Iterator[Repair]:
    """Yields the repair that writes the value where it stands; where a default or part says it, beside the event."""
    if value <= 0:
        return
    edit = repairs.change(subject, stated, value) if stated is not None else None
    if edit is None and timer.start is not None:
        text = render_decimal(value) if key == "misses" else repairs.duration_text(subject, value)
        edit = repairs.insert(subject, timer.start.place, key, text)
    repair = repairs.proposal(edit)
    if repair is not None:
        yield repair
