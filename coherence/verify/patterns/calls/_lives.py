"""Measures the lives of a thing that is ended and comes back: what each needs, what it is given, and what it keeps.

What ends lives beside a timer is counted too.  Of two ends by one cause, at least so far apart, each other cause lies
between at most once, where its own are at least as far apart: so of the lives in between, one for each cause, the
longest lasts an equal part of that time less the time that the thing is away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.language.design import Component, Design, Timer
from coherence.language.roles import role
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval, in_turn
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.events.forestalling import never_fires
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.timers.firing import counts_from_start, firing
from coherence.verify.timers.recurrences import Recurrence, away_for, is_over, recurrences
from coherence.verify.timers.removals import departures

SAVES = ("checkpoint", "dump")  # activities that keep the work of a life, and are none of it
MOST_LIVES = 10_000


@dataclass(frozen=True)
class Life:
    """A thing that is ended: by what, the seconds that a life is given and needs, and how it comes back.

    `stated`: the time after which it is ended, in the design; `renewed`: something may keep its end from coming.
    `lifted`: an event that is none of what the thing does, and may lift its end before.
    """

    ender: str
    stated: Quantity
    component: Component
    given: DurationInterval
    before: DurationInterval  # start-up in every life
    work: DurationInterval
    back: tuple[RetryPolicy, ...]  # calls that try again; none: it returns by itself
    comes_back: tuple[Place, ...] = ()
    renewed: bool = False
    lifted: str = ""
    apart: Fraction | None = None  # the shortest time between two ends by a clock of its own; None: from each start

    @property
    def longest_need(self) -> Fraction:
        """Returns the seconds that a life needs at most to do everything, and to keep its progress meanwhile."""
        return _longest(self.component, self.before, self.work)

    @property
    def tries(self) -> int | None:
        """Returns how many lives its callers give it; None: any number."""
        tries = [plan.tries for plan in self.back]
        return None if not tries or None in tries else max(count for count in tries if count is not None)

    def progress(self) -> Fraction | None:
        """Returns the progress that a life surely keeps (s); None without checkpoints."""
        every, write = checkpoint(self.component)
        if every is None:
            return None
        cycle, room = every.high + (write.high if write else ZERO), self.given.low - upper(self.before)
        return max(0, math.ceil(room / cycle) - 1) * every.low

    def most_progress(self) -> Fraction:
        """Returns the progress that a life keeps at most (s)."""
        every, write = checkpoint(self.component)
        if every is None:
            return ZERO
        cycle = every.low + (write.low if write else ZERO)
        return max(ZERO, (upper(self.given) - self.before.low) // cycle * every.high) if cycle else ZERO

    def most_lives(self) -> int | None:
        """Returns in how many lives all is done at most; None: nothing says."""
        if self.longest_need < self.given.low:
            return 1
        progress = self.progress()
        return math.ceil(upper(self.work) / progress) if progress else None

    def fewest_lives(self) -> int | None:
        """Returns in how many lives all is done at the least: the last one has all of its time for what is left."""
        left, progress = self.work.low - max(ZERO, upper(self.given) - self.before.low), self.most_progress()
        if left < 0 or (left == 0 and self.work.low == 0):
            return 1
        return None if not progress else 1 + math.ceil(left / progress)

    def slowest_run(self) -> int | None:
        """Returns the lives of the run in which all takes its longest, and each life is as short as it may be."""
        every, write = checkpoint(self.component)
        pause, left = (write.high if write else ZERO), upper(self.work)
        room = self.given.low - upper(self.before)
        for lives in range(1, MOST_LIVES + 1):
            writes = math.ceil(left / every.high) - 1 if every is not None else 0
            if left + writes * pause < room:
                return lives
            progress = max(0, math.ceil(room / (every.high + pause)) - 1) * every.high if every is not None else ZERO
            if not progress:
                return None
            left -= progress
        return None


def _longest(component: Component, before: DurationInterval, work: DurationInterval) -> Fraction:
    """Returns the seconds of start-up and work, and of the writes meanwhile, where all takes its longest."""
    every, write = checkpoint(component)
    writes = math.ceil(upper(work) / every.low) - 1 if every is not None else 0
    return upper(before) + upper(work) + max(0, writes) * (write.high if write else ZERO)


def whole_life(component: Component) -> Fraction | None:
    """Returns the seconds that a life lasts at most where it ends with what it takes; None where nothing says."""
    need = needed(None, component) if is_over(component) else None
    return _longest(component, *need) if need is not None else None


def upper(span: DurationInterval) -> Fraction:
    """Returns the longest seconds of a span that has an end, else its shortest."""
    return span.high if span.high is not None else span.low


def checkpoint(component: Component) -> tuple[Quantity | None, Quantity | None]:
    """Returns how often a thing keeps its progress, and how long the writing takes."""
    every, write = component.constants.get("checkpoint"), (component.takes or {}).get("checkpoint")
    usable = isinstance(every, Quantity) and every.dimension == SECOND and every.low > 0
    return every if usable and isinstance(every, Quantity) else None, write


def working(component: Component) -> list[tuple[str, Quantity]]:
    """Returns the activities that are work of a life."""
    return [(name, q) for name, q in (component.takes or {}).items() if not is_afterwards(component, name)]


def is_afterwards(component: Component, activity: str) -> bool:
    """Decides whether an activity saves or winds up a life."""
    return activity in SAVES or role(component, activity) == "drain"


def perhaps_saves(design: Design, component: Component) -> Iterator[str]:
    """Yields activities that may save the work of a life: apart from it, with an interval, or started by a timer."""
    started = {t.then.activity for t in design.timers.values() if t.then is not None and t.then.kind == "starts"}
    for activity in component.takes or {}:
        what, again = role(component, activity), isinstance(component.constants.get(activity), Quantity)
        if what == "apart" or (what == "" and (again or activity in started)):
            yield activity


def needed(timer: Timer | None, component: Component) -> tuple[DurationInterval, DurationInterval] | None:
    """Returns (start-up, work) of one life, from the timer's start event to the end of what it waits for."""
    takes = working(component)
    first = timer.start.activity if timer is not None and timer.start else ""
    waits = timer.unless if timer is not None and timer.unless and timer.unless.thing == component.name else None
    last = waits.activity if waits is not None else ""
    names = [name for name, _ in takes]
    begin = names.index(first) if first in names else 0
    end = names.index(last) if last in names else len(names) - 1
    chosen = [q for _, q in takes[begin : end + 1]]
    if not chosen:
        return None
    return in_turn(chosen[:-1]), DurationInterval(chosen[-1].low, chosen[-1].high)


def lifted_elsewhere(timer: Timer, component: Component) -> str:
    """Returns the event that lifts a timer, where it is none of what the thing does; else nothing."""
    unless = timer.unless
    own = unless is not None and unless.kind in ("starts", "ends") and unless.thing == component.name
    return "" if unless is None or (own and unless.activity in ("", *(component.takes or ()))) else unless.text


def from_its_start(timer: Timer, component: Component) -> bool:
    """Decides whether the timer runs from a start of the work itself.  A grace runs from a drain: the work is over."""
    start = timer.start
    own = start is not None and start.kind == "starts" and start.thing == component.name
    return own and start is not None and not is_afterwards(component, start.activity)


def most_lives(timer: Timer, component: Component) -> int | None:
    """Returns in how many lives a thing is done that a timer ends and that keeps its progress; None: any number."""
    fires, need = firing(timer), needed(timer, component)
    own = isinstance(timer.after, Quantity) and from_its_start(timer, component)
    if fires is None or need is None or fires.window.latest is None or not own:
        return None
    assert isinstance(timer.after, Quantity)
    given = DurationInterval(fires.window.earliest, fires.window.latest)
    return Life(timer.name, timer.after, component, given, *need, ()).most_lives()


@dataclass(frozen=True)
class OtherEnds:
    """What ends a thing beside the cause of a life: so far apart at least, at an unknown pace, or by chance."""

    paced: tuple[Recurrence, ...]
    unpaced: tuple[str, ...]
    failures: tuple[Component, ...]  # the thing and what it runs on, where these state a mean life
    away: Fraction | None  # the longest time that the thing is away after an end; None: not said

    @property
    def names(self) -> str:
        """Returns those of a known pace in words."""
        return " and ".join(cause.name for cause in self.paced)

    def shortened(self, life: Life) -> Life | None:
        """Returns the life that comes again and again beside the others; None where there may be none."""
        if not self.paced:
            return life
        lows = [*(cause.apart.low or ZERO for cause in self.paced), *([life.apart] if life.apart is not None else [])]
        if self.away is None or not min(lows):
            return None
        piece = min(lows) / len(lows) - self.away
        return replace(life, given=DurationInterval(min(life.given.low, piece), life.given.high)) if piece > 0 else None


def other_ends(facts: DesignFacts, life: Life) -> OtherEnds:
    """Returns what ends the thing of a life beside what the life is about."""
    name = life.component.name
    host = life.component.runs_on.text if life.component.runs_on is not None else ""
    things = [name, *([host] if host in facts.design.components else [])]
    dead = {timer.name for timer in facts.design.timers.values() if never_fires(facts.design, timer)}
    causes = (cause for cause in recurrences(facts, name) if cause.name not in {life.ender, *dead})
    paced = tuple(cause for cause in causes if not _looks(facts, cause, name))
    failures = tuple(facts.design.components[thing] for thing in things if mean_life(facts.design.components[thing]))
    known = {life.ender, *dead, *(cause.name for cause in paced), *(f"{component.name}.mtbf" for component in failures)}
    going = (departure.name for thing in things for departure in departures(facts, thing))
    unpaced = tuple(dict.fromkeys(ender for ender in going if ender not in known))
    return OtherEnds(paced, unpaced, failures, away_for(life.component))


def mean_life(component: Component) -> Quantity | None:
    """Returns the mean time to a failure that a thing states."""
    stated = component.constants.get("mtbf")
    return stated if isinstance(stated, Quantity) and stated.dimension == SECOND and stated.low > 0 else None


def of_recurrence(facts: DesignFacts, cause: Recurrence, component: Component) -> Life | None:
    """Returns the lives between ends that come by a clock of their own; None for a timer that runs from their start."""
    timer, loop = facts.design.timers.get(cause.name), facts.design.loops.get(cause.name)
    away, need = away_for(component), needed(None, component)
    if away is None or need is None or cause.apart.low is None:
        return None
    if timer is not None and (timer.every is None or _is_probe(timer) or counts_from_start(timer, component.name)):
        return None
    period = timer.every if timer is not None else loop.timescale.period if loop and loop.timescale else None
    if not isinstance(period, Quantity):
        return None
    several = isinstance(component.copies, Quantity) and component.copies.high > 1
    latest = None if several or (timer is not None and timer.per is not None) else cause.apart.high
    given = DurationInterval(max(ZERO, cause.apart.low - away), latest)
    returns = component.returns
    back = (returns.place.labelled("and it comes back"),) if returns is not None else ()
    return Life(cause.name, period, component, given, *need, (), back, apart=cause.apart.low)


def _looks(facts: DesignFacts, cause: Recurrence, thing: str) -> bool:
    """Decides whether a cause is a probe that is not set off by a start of the thing: it may never end it."""
    timer = facts.design.timers.get(cause.name)
    return timer is not None and _is_probe(timer) and not counts_from_start(timer, thing)


def _is_probe(timer: Timer) -> bool:
    return timer.misses is not None or timer.sees is not None or timer.reply_within is not None
