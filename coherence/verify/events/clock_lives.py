"""Computes how far apart a clock ticks that counts from the start of a thing: in one life of it, and over its end.

A clock that counts from the start of a member ends and begins with it.  Other timers that end the member, and the time
that its whole life takes, say when.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.design import Design, Timer
from coherence.language.entries.actions import ENDS, action_in, takes_back
from coherence.language.roles import whole_life
from coherence.verify.timers import firing
from coherence.verify.timers.firing import FiringWindow
from coherence.verify.timers.recurrences import away_for, comes_back


@dataclass(frozen=True)
class MemberLife:
    """How long a member lives where one thing ends it (None: at any time), how long it is away then, and whether that
    comes in every life which nothing else ends before.
    """

    lasts: FiringWindow | None
    away: Fraction
    sure: bool


def ends_thing(timer: Timer, thing: str) -> bool:
    """Decides whether what a timer does ends a thing."""
    words = timer.then.text.split() if timer.then is not None else []
    ends = action_in(" ".join(words)) == ENDS or takes_back(" ".join(words))
    return ends and words[1:2] == [thing]


def within_lives(design: Design, timer: Timer, period: FiringWindow, starts: str) -> Iterator[FiringWindow]:
    """Yields the times between two ticks of a clock; `period`: of those in one life of what it counts from.

    `starts`: the thing whose activity is started in the end; where it is the same one, that ends with its life.
    """
    first, lives = firing.firing(timer), list(_lives(design, timer))
    if first is None or not lives:
        yield period
        return
    second = first.window + period
    shortest = [life.lasts for life in lives if life.lasts is not None]
    ends = [life.lasts.latest for life in lives if life.sure and life.lasts and life.lasts.latest is not None]
    if min(ends, default=second.earliest) >= second.earliest:
        whole = len(shortest) == len(lives) and second.latest is not None
        always = whole and all(lasts.earliest >= (second.latest or 0) for lasts in shortest)
        yield period if always else FiringWindow(period.earliest, None)
    for life in lives if timer.start is None or starts != timer.start.thing else ():
        if life.lasts is None or life.lasts.latest is None or life.lasts.latest >= first.window.earliest:
            yield FiringWindow(first.window.earliest + life.away, None)  # a life may end right after a tick


def _lives(design: Design, timer: Timer) -> Iterator[MemberLife]:
    """Yields what ends the thing from whose start a clock counts, and brings it back."""
    start = timer.start
    if start is None or start.kind != "starts" or start.activity or start.of or start.thing not in design.components:
        return
    component = design.components[start.thing]
    returns, away = comes_back(component) is True, away_for(component) or Fraction(0)
    for other in design.timers.values():
        again = firing.begins_again(other)
        if other.name == timer.name or not ends_thing(other, start.thing) or not (again or returns):
            continue
        fires = firing.firing(other) if firing.counts_from_start(other, start.thing) else None
        if not firing.never(other):
            yield MemberLife(fires.window if fires else None, Fraction(0) if again else away, other.unless is None)
    life = whole_life(design, start.thing)
    if life and returns:
        span = (component.takes or {})[life]
        yield MemberLife(FiringWindow(span.low, span.high), away, sure=True)
