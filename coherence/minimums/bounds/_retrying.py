"""Applies retry bounds to the calls of a design with their tries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.language.design import Call, Design
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered


def tries_of(call: Call) -> tuple[Fraction, Fraction] | None:
    """Fewest and most tries of a call, nested layers multiplied; None where they are not limited."""
    low = high = Fraction(1)
    for count in call.tries:
        if not isinstance(count, Quantity):
            return None
        low, high = low * count.low, high * count.high
    return low, high


def ends_early(call: Call) -> bool:
    """Returns whether something may end the tries of a call before the last one: a budget, a breaker, a deadline."""
    return call.budget is not None or call.breaker is not None or isinstance(call.deadline, Quantity)


def retrying(design: Design) -> Iterator[Application]:
    """Yields every call with more than one try."""
    for call in design.calls:
        tries = tries_of(call)
        if tries is not None and tries[1] > 1:
            fewest = Fraction(1) if ends_early(call) else tries[0]
            gathered = Gathered(call.name).span("tries", fewest, tries[1])
            gathered.places += [count.place.labelled("tries") for count in call.tries if isinstance(count, Quantity)]
            yield gathered.application()


def deadlines(design: Design) -> Iterator[Application]:
    """Yields every call with a deadline, several tries and a constant or capped pause."""
    for call in design.calls:
        tries = tries_of(call)
        if tries is None or tries[1] <= 1 or call.deadline is None:
            continue
        gathered = Gathered(call.name).span("tries", *tries)
        gathered.quantity("deadline", call.deadline, f"deadline of {call.name}")
        pause = call.pause
        if pause is None:
            gathered.span("pause", Fraction(0))
        elif isinstance(pause, Quantity):
            gathered.quantity("pause", pause, "")
        else:
            base = getattr(pause, "base", None)
            gathered.quantity("pause", base, f"base of the pause of {call.name}")
        yield gathered.application()
