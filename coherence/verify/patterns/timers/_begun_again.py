"""Says when a timer fires that waits for an activity which something begins again after a failure, at any time."""

from __future__ import annotations

from fractions import Fraction

from coherence.language.design import Timer
from coherence.language.schema_kinds import Quantity
from coherence.language.words import OVER
from coherence.verify.events.graph import Chain, EventLink
from coherence.verify.events.orders import EventOrder, total_reached
from coherence.verify.timers.firing import FiringWindow


def run_of(timer: Timer, order: EventOrder, causes: Chain) -> tuple[EventOrder, str]:
    """Returns the run in which a failure keeps the thing away as the timer fires; or what is to be known."""
    lacks = _missing(timer, order, causes)
    return (order, f"needs {lacks}") if lacks else (_after_failure(timer, order, causes), "")


def _missing(timer: Timer, order: EventOrder, causes: Chain) -> str:
    """Returns what is not known of an activity that such a chain begins; nothing where a failure may be met.

    A failure comes at any time; of other events it is asked how long after the timer's own they come.  A probe fires
    only where its looks miss the thing for as long as it is away.
    """
    lacks = next((link.missing for link in causes if link.missing), "")
    if lacks:
        return lacks
    begins, away = causes[-1].cause, total_reached((*order.first, *causes)).latest
    if not _is_failure(begins) or _is_failure(order.common) or away is None or away <= _streak(timer):
        return f"how long after '{order.common}' '{begins}' comes"
    return ""


def _after_failure(timer: Timer, order: EventOrder, causes: Chain) -> EventOrder:
    """Returns the run in which the failure comes just before the first look of those by which the timer fires."""
    begins, came = causes[-1].cause, max(Fraction(0), order.reached[1].earliest - _streak(timer))
    note = f"'{begins}' may come at any time after '{order.common}'"
    failure = EventLink("begins", begins, order.common, begins, FiringWindow(came, came), assumptions=(note,))
    return EventOrder(order.common, (*order.first, *causes, failure), order.second)


def _streak(timer: Timer) -> Fraction:
    """Returns how long at the least looks must fail in a row."""
    misses = timer.misses.low if isinstance(timer.misses, Quantity) else Fraction(1)
    return (misses - 1) * timer.every.low if timer.every is not None else Fraction(0)


def _is_failure(event: str) -> bool:
    return event.rpartition(" ")[2] in OVER
