"""Says how far apart the looks of a probe are, and what answers a probe that counts from a start."""

from __future__ import annotations

from fractions import Fraction

from coherence.language.design import Design, Timer
from coherence.language.roles import in_role
from coherence.language.sentences import Event, event_of


def is_paced_by_reply(timer: Timer) -> bool:
    """Decides whether a probe waits `every` after the end of a look; else a clock that goes on begins its looks."""
    return timer.paced_by is not None and timer.paced_by.text == "reply"


def longest_spacing(timer: Timer) -> Fraction:
    """Returns the longest time from a look without a reply to the next one (s); of a clock one tick is kept."""
    every = timer.every.high if timer.every is not None else Fraction(0)
    reply = timer.reply_within.high if timer.reply_within is not None else Fraction(0)
    return every + reply if is_paced_by_reply(timer) else max(every, reply)


def with_replies(design: Design) -> Design:
    """Returns the design in which each probe that counts from the start of a thing is answered once that is over."""
    answered = {timer.name: event for timer in design.timers.values() if (event := _reply(design, timer)) is not None}
    if not answered:
        return design
    timers = {
        name: timer.replace(unless=answered[name]) if name in answered else timer
        for name, timer in design.timers.items()
    }
    return design.replace(timers=timers)


def is_answered_by_default(timer: Timer) -> bool:
    """Decides whether `unless` of a probe is not stated but follows from the start that it counts from."""
    return timer.unless is not None and timer.start is not None and timer.unless.place == timer.start.place


def _reply(design: Design, timer: Timer) -> Event | None:
    """Returns the end of the start of what a probe looks at; None where it is stated, or another probe waits for it."""
    start = timer.start
    if timer.unless is not None or timer.every is None or timer.misses is None or start is None:
        return None
    component = design.components.get(start.thing) if start.kind == "starts" and not start.activity else None
    begins = in_role(component, "start") if component is not None else []
    if not begins or _held_back(design, timer):
        return None
    return event_of(f"{start.thing}.{begins[-1][0]} ends", start.place)


def _held_back(design: Design, timer: Timer) -> bool:
    """Decides whether a startup probe of the same thing holds this one back until the start is over."""
    return any(
        other.part is not None and other.part.text == "startup_probe" and other.start == timer.start
        for other in design.timers.values()
        if other.name != timer.name
    )
