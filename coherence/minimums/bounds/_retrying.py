"""Where retry bounds apply: the calls of a design with their tries."""

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


def retrying(design: Design) -> Iterator[Application]:
    """Every call with more than one try."""
    for call in design.calls:
        found = tries_of(call)
        if found is not None and found[1] > 1:
            made = Gathered(call.name).span("tries", *found)
            made.places += [count.place.labelled("tries") for count in call.tries if isinstance(count, Quantity)]
            yield made.made()


def deadlines(design: Design) -> Iterator[Application]:
    """Every call with a deadline, several tries and a constant or capped pause."""
    for call in design.calls:
        found = tries_of(call)
        if found is None or found[1] <= 1 or call.deadline is None:
            continue
        made = Gathered(call.name).span("tries", *found)
        made.quantity("deadline", call.deadline, f"deadline of {call.name}")
        pause = call.pause
        if pause is None:
            made.span("pause", Fraction(0))
        elif isinstance(pause, Quantity):
            made.quantity("pause", pause, "")
        else:
            base = getattr(pause, "base", None)
            made.quantity("pause", base, f"base of the pause of {call.name}")
        yield made.made()
