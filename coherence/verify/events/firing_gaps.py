"""Computes whose members a timer stands for, and how far apart the firings of each of its timers are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.language.design import Design, Timer
from coherence.language.sentences import Event
from coherence.language.words import MEMBER
from coherence.model.model import Interval
from coherence.verify.events.forestalling import never_fires
from coherence.verify.events.orders import hull
from coherence.verify.events.periods import begins_anew, periods
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.timers import firing
from coherence.verify.timers.recurrences import comes_back, time_between


@dataclass(frozen=True)
class FiringGaps:
    """How far apart the firings of one timer are, in seconds.

    `apart`: from one to the next, no upper end where it need not fire; None where it fires once.  `first`: the least
    time from what it counts from to its first firing: what begins it anew brings two firings so close.
    """

    apart: Interval | None
    first: Fraction


def owner(design: Design, timer: Timer) -> tuple[str, bool]:
    """Returns the thing of whose members the timer is one each, and whether its event says so; nothing for one timer.

    An event of other words that name a thing may happen to each of its members.
    """
    seen = {timer.name}
    while True:
        start = timer.start
        if timer.per is not None:
            return _stated(design, timer.per.text, start), True
        source = _source(design, start)
        if source is None or source.name in seen:
            break
        seen.add(source.name)
        timer = source
    if start is None or start.of or start.kind == "waits":
        return "", True
    if start.kind != "outside":
        return (start.thing, True) if start.thing in design.components else ("", True)
    return next((word for word in start.text.split() if word in design.components), ""), False


def _stated(design: Design, per: str, start: Event | None) -> str:
    """Returns what `per` says: a thing, by a word for its members or its name, or other keys."""
    of_start = start.thing if start is not None else ""
    return of_start if per in MEMBER and per not in design.components and of_start in design.components else per


def _source(design: Design, start: Event | None) -> Timer | None:
    """Returns the timer whose firing an event is."""
    outside = start is not None and start.kind == "outside" and not start.of
    return design.timers.get(start.text.removesuffix(" fires")) if start is not None and outside else None


def longest_life(facts: DesignFacts, timer: Timer) -> Fraction | None:
    """Returns the longest that a member lives which a timer stands for; None where no other timer surely ends it."""
    thing, _ = owner(facts.design, timer)
    lives = [
        fires.window.latest
        for other in facts.design.timers.values()
        if other.name != timer.name and other.unless is None and begins_anew(other, thing)
        if (fires := firing.firing(other)) is not None and fires.window.latest is not None
    ]
    return min(lives, default=None)


def begins_apart(facts: DesignFacts, timer: Timer, ender: str) -> Fraction | None:
    """Returns the least seconds between two lives of one member that a timer stands for, where another one ends them.

    The other one runs from the start of the member, or from something that happens to it.
    """
    thing, _ = owner(facts.design, timer)
    other = facts.design.timers.get(ender)
    fires = firing.firing(other) if other is not None else None
    if other is None or fires is None or other.start is None:
        return None
    own = firing.counts_from_start(other, thing) or (
        other.start.kind == "outside" and other.start.text.split()[:1] == [thing]
    )
    return fires.window.earliest if own and other.every is None else None


def firing_gaps(facts: DesignFacts, timer: Timer, seen: frozenset[str] = frozenset()) -> FiringGaps | None:
    """Returns how far apart the firings of one timer are; None where it never fires, or nothing says how soon again."""
    fires = firing.firing(timer)
    if fires is None or never_fires(facts.design, timer) or timer.name in seen:
        return None
    source = _source(facts.design, timer.start)
    gaps = firing_gaps(facts, source, seen | {timer.name}) if source is not None else None
    first = fires.window.earliest + (gaps.first if gaps is not None else 0)
    apart = _apart(facts, timer, gaps)
    if apart is None:
        start = timer.start
        once = start is not None and start.kind == "starts" and not start.activity and not _returns(facts, timer)
        return FiringGaps(None, first) if once else None
    return FiringGaps(Interval(apart.low, None) if _may_be_lifted(timer) else apart, first)


def _may_be_lifted(timer: Timer) -> bool:
    """Decides whether a timer need not fire: something lifts it, or it looks for what need not be there."""
    return timer.unless is not None or timer.misses is not None or timer.sees is not None


def _returns(facts: DesignFacts, timer: Timer) -> bool:
    """Decides whether a timer ends what it counts from, and that may come back."""
    thing = timer.start.thing if timer.start is not None else ""
    return begins_anew(timer, thing) and comes_back(facts.design.components.get(thing)) is not False


def _apart(facts: DesignFacts, timer: Timer, source: FiringGaps | None) -> Interval | None:
    """Returns how far apart the firings of a timer are; `source`: those of the timer that it runs from."""
    start = timer.start
    if start is not None and begins_anew(timer, start.thing):
        again = firing.begins_again(timer) or comes_back(facts.design.components.get(start.thing))
        return time_between(facts, timer, start.thing) if again else None
    ways = list(periods(facts.design, timer))
    if ways:
        return Interval(hull(ways).earliest, hull(ways).latest)
    if timer.every is not None:
        return Interval(timer.every.low, None)  # after so many misses, it may fire at each one more
    return _later(timer, source.apart) if source is not None and source.apart is not None else None


def _later(timer: Timer, apart: Interval) -> Interval | None:
    """Returns how far apart the firings are of a timer that runs from firings so far apart."""
    fires = firing.firing(timer)
    if fires is None or fires.window.latest is None or apart.low is None:
        return None
    spread = fires.window.latest - fires.window.earliest
    return Interval(max(Fraction(0), apart.low - spread), apart.high + spread if apart.high is not None else None)
