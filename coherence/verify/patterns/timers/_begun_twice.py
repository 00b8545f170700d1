"""Compares the times at which two timers start one activity: two clocks at any, those of one event so far apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Design, Timer
from coherence.language.roles import things
from coherence.language.sentences import Event
from coherence.verify.events import graph, orders
from coherence.verify.events.orders import EventOrder, between
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.firing import FiringWindow

ANY_PHASE = FiringWindow(Fraction(0), None)


def begun_twice(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields each pair of timers that start an activity again before what the other one started is over."""
    design, starting = subject.design, started_by(subject.design)
    for name, timers in starting.items():
        for timer, other in itertools.combinations(timers, 2):
            lasts, apart = graph.lasting(design, name), starts_apart(design, timer, other)
            longest = lasts.reached.latest
            if apart is not None and longest is not None and longest > apart.earliest:
                yield _conflict(question, timer, other, lasts, apart)


def started_by(design: Design) -> dict[str, list[Timer]]:
    """Returns each activity of a stated time that timers start, and those of them that nothing ends."""
    starting: dict[str, list[Timer]] = {}
    for timer in design.timers.values():
        if timer.then is None or timer.then.kind != "starts" or timer.unless is not None:
            continue
        component, activity = things(design).get(timer.then.thing), begun_by(design, timer.then)
        if component is not None and activity in (component.takes or {}):
            starting.setdefault(f"{timer.then.thing}.{activity}", []).append(timer)
    return starting


def begun_by(design: Design, then: Event) -> str:
    """Returns the activity that an order to start something begins: of a thing its first one; or nothing."""
    return graph.key_of(then, design).removesuffix(" starts").partition(".")[2]


def starts_apart(design: Design, timer: Timer, other: Timer) -> FiringWindow | None:
    """Returns how far apart two timers fire, whichever is first; None where nothing ties them to each other.

    The first tick of a clock comes at any time in its period: two clocks tick together in some run.
    """
    met = _of_one_start(design, timer, other)
    if not met:
        ways = orders.alternatives(f"{timer.name} fires", f"{other.name} fires", graph.event_graph(design))
        met = [order for together in ways for order in together]
    tied = [order for order in met if order is not None and not order.again]
    if len(tied) < len(met) or not tied:
        return ANY_PHASE if _ticks(timer) and _ticks(other) else None
    if any(_has_clock(design, order.first) and _has_clock(design, order.second) for order in tied):
        return ANY_PHASE
    if any(_is_free(design, order) for order in tied):
        return None
    from coherence.verify.events.periods import periods

    apart = orders.hull(map(_distance, tied))
    again = [min((period.earliest for period in periods(design, each)), default=None) for each in (timer, other)]
    rounds = [earliest for earliest in again if earliest is not None]
    if len(rounds) < len(again) or apart.latest is None:
        return apart
    return FiringWindow(min(apart.earliest, max(Fraction(0), min(rounds) - apart.latest)), apart.latest)


def _of_one_start(design: Design, timer: Timer, other: Timer) -> list[EventOrder | None]:
    """Returns how two timers stand that run from one event, whatever comes round to that again; [] for others."""
    starts = [graph.key_of(each.start, design) if each.start is not None else each.name for each in (timer, other)]
    links = [graph.event_graph(design).get(f"{each.name} fires", ()) for each in (timer, other)]
    own = [tuple(link for link in of_one if link.kind == "timer") for of_one in links]
    return [EventOrder(starts[0], own[0], own[1])] if starts[0] == starts[1] and all(own) else []


def _ticks(timer: Timer) -> bool:
    return timer.every is not None and timer.misses is None


def _has_clock(design: Design, chain: graph.Chain) -> bool:
    return any(link.kind == "timer" and _ticks(design.timers[link.name]) for link in chain)


def _is_free(design: Design, order: EventOrder) -> bool:
    """Decides whether it is open when two firings come after one event: a clock is on the way, or a fact is missing."""
    return order.open or bool(order.missing) or _has_clock(design, (*order.first, *order.second))


def _distance(order: EventOrder) -> FiringWindow:
    """Returns the time from the first of two events to the second, in either order."""
    first, second = order.windows
    if first.latest is None or second.latest is None:
        return ANY_PHASE
    gaps = (second.earliest - first.latest, first.earliest - second.latest)
    return FiringWindow(max(Fraction(0), *gaps), max(second.latest - first.earliest, first.latest - second.earliest))


def _conflict(question: Question, timer: Timer, other: Timer, lasts: graph.EventLink, apart: FiringWindow) -> Finding:
    soon, longest = apart.earliest, lasts.reached.latest or Fraction(0)
    certain = apart.latest is not None and lasts.reached.earliest > apart.latest
    times = f"{between(apart)} apart" if apart.latest is not None else "at one time in some run"
    verb = "takes" if certain else "may take"
    steps = (
        Step(Fraction(0), f"{timer.name} or {other.name} starts {lasts.name}"),
        Step(soon, f"the other one starts {lasts.name} too"),
        Step(longest, f"the first one is over, {render_seconds(longest - soon)} late"),
    )
    numbers: Numbers = {"starts apart, least": (soon, "s"), "takes at most": (longest, "s")}
    places = (
        *(graph.values(each)[0].labelled(f"{each.name} starts it by this") for each in (timer, other)),
        *(place.labelled(f"{lasts.name} takes this long") for place in lasts.places[:1]),
    )
    thing = lasts.name.partition(".")[0]
    return question.conflict(
        f"{timer.name} and {other.name} start {lasts.name} {times}, and it {verb} {between(lasts.reached)}: "
        "two run at once",
        places, (timer.name, other.name, thing, *lasts.inside), arithmetic(numbers, witness=steps), certain=certain,
        assumptions=(f"neither waits for the {lasts.name} of the other one to end", *lasts.assumptions),
    )  # fmt: skip
