"""Finds how often timers and loops restart, evict or fail a thing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.language.design import Component, Design, Limit, Loop, Timer
from coherence.language.expressions.tree import Name
from coherence.language.roles import RUNS, role
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.timers import firing

COUNTED = STATES["failures"]
FIRINGS = "firings"  # what a limit counts that names a timer


def counts_events(design: Design, limit: Limit) -> bool:
    """Decides whether the limit counts what happens over time (`job.restarts`, a timer), not how many there are."""
    tree = limit.counts.tree if limit.counts is not None else None
    named = isinstance(tree, Name) and tree.path.partition(".")[2] in COUNTED
    return named or counted_timer(design, limit) is not None


def counted_timer(design: Design, limit: Limit) -> Timer | None:
    """Returns the timer whose firings a limit counts (`counts: renew`)."""
    tree = limit.counts.tree if limit.counts is not None else None
    return design.timers.get(tree.path) if isinstance(tree, Name) else None


@dataclass(frozen=True)
class Recurrence:
    """Something that happens to a thing: the time from one to the next lies in `apart` (no upper end: not known)."""

    name: str
    thing: str
    apart: Interval
    place: Place


def recurrences(
    facts: DesignFacts, thing: str, *, once: bool = False, never_lifted: Collection[str] = ()
) -> Iterator[Recurrence]:
    """Yields every timer and loop that ends members of the thing, or counts a failure of it, more than once.

    `once`: one time is enough to matter, so it counts though it is not said that members come back.
    `never_lifted`: timers that fire each time, whatever their `unless`.
    """
    for timer in facts.design.timers.values():
        if timer.unless is None or timer.name in never_lifted:
            yield from _of_timer(facts, timer, thing, once=once)
    for loop in facts.design.loops.values():
        yield from _of_loop(facts, loop, thing, once=once)


def comes_back(component: Component | None) -> bool | None:
    """Decides whether a member is recreated when it is removed; None where the design does not say."""
    if component is None or component.returns is None:
        return None
    return component.returns.text != "never"


def is_over(component: Component) -> bool:
    """Decides whether the life of a thing ends with what it takes.

    A start, an answer to one request and what goes on beside them are over while the thing lives on.
    """
    return any(name in RUNS or role(component, name) == "" for name in component.takes or {})


def _host(facts: DesignFacts, thing: str) -> str | None:
    """Returns what the thing runs on: its end ends the thing's members."""
    component = facts.design.components.get(thing)
    return component.runs_on.text if component is not None and component.runs_on is not None else None


def _of_timer(facts: DesignFacts, timer: Timer, thing: str, *, once: bool) -> Iterator[Recurrence]:
    ended = firing.ended_by(timer)
    if ended not in (thing, _host(facts, thing)):
        return
    if firing.firing(timer) is None:
        return
    apart = time_between(facts, timer, ended, once=once)
    if apart is not None:
        apart = apart if ended == thing else Interval(apart.low, None)  # not each time the host of this member
        place = next((q.place for q in (timer.every, timer.after) if isinstance(q, Quantity)), timer.place)
        yield Recurrence(timer.name, thing, apart, place.labelled(f"{timer.name}: so far apart"))


def time_between(facts: DesignFacts, timer: Timer, thing: str, *, once: bool = False) -> Interval | None:
    """Returns the time between firings: from a start of the thing its own time, else the period; from outside, any."""
    fires, component = firing.firing(timer), facts.design.components.get(thing)
    if firing.counts_from_start(timer, thing) and fires is not None:
        begun = firing.begins_again(timer)
        if once or comes_back(component) or begun:
            away = Fraction(0) if begun or component is None else away_for(component)
            least, most = fires.window.earliest + (away or 0), fires.window.latest
            if away is None or most is None or (timer.start is not None and timer.start.activity):
                return Interval(least, None)
            return Interval(least, most + away)
    if timer.every is None:
        return None
    few, many = firing.misses_of(timer)
    return Interval(few * timer.every.low, many * timer.every.high) if timer.every.low > 0 else None


def away_for(component: Component) -> Fraction | None:
    """Returns the longest seconds after which a member that was removed comes back; None where that is not said."""
    returns = component.returns.text if component.returns is not None else "always"
    if returns == "always":
        return Fraction(0)
    try:
        return units.quantity(returns.removeprefix("after "))[0]
    except ValueError:
        return None


def _of_loop(facts: DesignFacts, loop: Loop, thing: str, *, once: bool) -> Iterator[Recurrence]:
    evicted, period = loop.evicted, loop.timescale.period if loop.timescale else None
    evicts = evicted != "" and evicted in (thing, _host(facts, thing))
    again = once or comes_back(facts.design.components.get(thing))
    if not evicts or not again or period is None or period.low <= 0:
        return
    always = loop.trigger is None or getattr(loop.trigger, "text", "") == "always"
    least, most = _between_effects(loop, period)
    apart = Interval(least, most if always and evicted == thing else None)
    yield Recurrence(loop.name, thing, apart, period.place.labelled(f"{loop.name} may act this often"))


def _between_effects(loop: Loop, period: Quantity) -> tuple[Fraction, Fraction]:
    """Returns the shortest and longest time between two effects of a loop that acts whenever it may."""
    timescale = loop.timescale
    lands, cooldown = (timescale.lands, timescale.cooldown) if timescale is not None else (None, None)
    late = lands.high - lands.low if isinstance(lands, Quantity) else Fraction(0)
    pause = cooldown.high if isinstance(cooldown, Quantity) else Fraction(0)
    return max(Fraction(0), period.low - late), period.high + late + pause
