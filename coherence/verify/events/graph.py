"""Finds what causes each event of a design, and how long that takes.

An event has a key: `server.load ends`, `liveness fires`, or the words of an outside event.  A link
says that its effect follows its cause within a window; a chain is the links from an event back to
one that nothing in the design causes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.findings.question_input import rational
from coherence.language import names
from coherence.language.design import Component, Design, Limit, Timer
from coherence.language.entries.actions import drained_by, ended_activity
from coherence.language.expressions import names as names_of
from coherence.language.roles import in_role, role, stated_drain, things, whole_life
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event
from coherence.language.words import COUNTS, MEMBER, STATES
from coherence.verify.events.along_calls import Calling, CallingTime, calling
from coherence.verify.timers import firing
from coherence.verify.timers.firing import NOW, FiringWindow

MAY_END = "may end"
UP_OR_DOWN = (*COUNTS["available"], *COUNTS["unavailable"], *STATES["out of service"], *STATES["left in service"])


@dataclass(frozen=True)
class EventLink:
    """`effect` follows `cause` within `window`.  `kind`: timer, activity, call, begins (at once), follows (in order).

    `lower` and `upper` are the ends of the window as SMT-LIB terms; `missing` names the fact without
    which the window is not known; `places` are the values it was read from, the deciding one first.
    `inner`: the part of the window that runs reach for certain, where that is not all of it; `calling`: calls in it.
    `rivals`: what is taken for granted of runs of the same activity that others start, where the last one counts.
    """

    kind: str
    name: str
    cause: str
    effect: str
    window: FiringWindow
    lower: str = "0.0"
    upper: str = "0.0"
    places: tuple[Place, ...] = ()
    missing: str = ""
    assumptions: tuple[str, ...] = ()
    inner: FiringWindow | None = None
    calling: Calling | None = None
    rivals: tuple[str, ...] = ()

    @property
    def reached(self) -> FiringWindow:
        """Returns the times that runs reach."""
        return self.inner or self.window

    @property
    def inside(self) -> tuple[str, ...]:
        """Returns the names of the calls in an activity."""
        return self.calling.inside if self.calling is not None else ()


Chain = tuple[EventLink, ...]
Causes = Mapping[str, tuple[EventLink, ...]]


def key_of(event: Event, design: Design) -> str:
    """Returns one key for all spellings of an event: `server starts` is the start of its first activity, and `job ends`
    the end of its only one, where that is its whole life.

    Where a timer that runs from `server starts` starts that activity, the two are events of their own.  No thing
    begins with its drain.
    """
    words = event.text.removesuffix(" seen")
    if event.kind == "starts" and not event.activity and not event.of:
        component = things(design).get(event.thing)
        begins = next((name for name in _activities(component) if component and role(component, name) != "drain"), "")
        if _activities(component):
            first = f"{event.thing}.{begins}"
            return f"{first if begins and first not in _begun_later(design) else event.thing} starts"
    if event.kind == "ends" and not event.activity and not event.of and (life := whole_life(design, event.thing)):
        return f"{event.thing}.{life} ends"
    timer = design.timers.get(_timer_named(event, words))
    if timer is not None:
        return _timer_event(event, words, timer, design)
    if event.kind in ("starts", "ends") and event.activity:
        prefix = {"all": "all of ", "": ""}.get(event.of, f"{event.of} ")
        return f"{prefix}{event.subject} {event.kind}"
    return words


def _timer_named(event: Event, words: str) -> str:
    name = event.subject if event.kind in ("starts", "ends") else words.removesuffix(" fires")
    return "" if event.of else name


def _timer_event(event: Event, words: str, timer: Timer, design: Design) -> str:
    """Returns the event of a timer's name: its firing; with `starts` its `from`, with `ends` its `unless`."""
    if event.kind == "outside":
        return f"{timer.name} fires"
    other = timer.start if event.kind == "starts" else timer.unless
    if other is None or _timer_named(other, other.text) in design.timers:
        return words
    return key_of(other, design)


@cached
def _begun_later(design: Design) -> frozenset[str]:
    """Returns the activities that a timer starts which runs, by way of others or not, from the start of their thing."""
    started = ((timer.then, first_event(design, timer)) for timer in design.timers.values())
    return frozenset(
        then.subject for then, first in started
        if then and first and then.activity and then.thing == first.subject and {then.kind, first.kind} == {"starts"}
    )  # fmt: skip


def first_event(design: Design, timer: Timer) -> Event | None:
    """Returns the event from which a timer runs, by way of other timers or not; None where these run in a circle."""
    seen = {timer.name}
    while (start := timer.start) is not None and (other := _timer_named(start, start.text)) in design.timers:
        if other in seen:
            return None
        seen.add(other)
        timer = design.timers[other]
    return start


def _activities(component: Component | None) -> tuple[str, ...]:
    return tuple(component.takes or ()) if component is not None else ()


def event_graph(design: Design) -> Causes:
    """Returns effect -> the links that can bring it about (several: any of them may); cached on the design.

    A timer that ends an activity is a way to its end beside its own time; of kind `may end` where it does not end each
    run of it, since something else lifts the timer or starts it.
    """
    return design.queries.get(event_graph, lambda: _gathered(design))


def _gathered(design: Design) -> Causes:
    links_to: dict[str, list[EventLink]] = {}
    for link in itertools.chain(_fired(design), _ended(design), _begun(design)):
        links_to.setdefault(link.effect, []).append(link)
    for link in [link for link in _drained(design) if link.effect not in links_to]:
        links_to.setdefault(link.effect, []).append(link)
    for link in _followed(design):
        links_to.setdefault(link.effect, [link])
    for link in _ended_by_timers(design):
        links_to.setdefault(link.effect, []).append(link)
    return {effect: tuple(links) for effect, links in links_to.items()}


def _ended_by_timers(design: Design) -> Iterator[EventLink]:
    for timer in design.timers.values():
        if timer.then is not None and not firing.never(timer) and (effect := _end_brought(design, timer.then)):
            link = _ending(design, timer, effect)
            yield from [link] if timer.then.kind == "ends" or not link.missing else []


def _end_brought(design: Design, then: Event) -> str:
    """Returns the end of an activity that comes of an action, not of a thing of which no time is stated."""
    key = key_of(then, design) if then.kind == "ends" else f"{ended_activity(design, then.text)} ends"
    return key if "." in key else ""


def _ending(design: Design, timer: Timer, effect: str) -> EventLink:
    """Returns how a timer brings the end of an activity about."""
    place = timer.then.place.labelled(f"{timer.name} ends it") if timer.then is not None else timer.place
    begins = f"{effect.removesuffix(' ends')} starts"
    runs = timer.start is not None and key_of(timer.start, design) == begins
    kind = "begins" if runs and (timer.unless is None or key_of(timer.unless, design) == effect) else MAY_END
    missing, fires = "" if runs else f"whether {timer.name} fires after '{begins}'", f"{timer.name} fires"
    return EventLink(kind, effect, fires, effect, NOW, places=(place,), missing=missing)


def _fired(design: Design) -> Iterator[EventLink]:
    for timer in design.timers.values():
        if timer.start is None or firing.never(timer):
            continue
        start, ever = key_of(timer.start, design), FiringWindow(Fraction(0), None)
        link = EventLink("timer", timer.name, start, f"{timer.name} fires", ever)
        fires = firing.firing(timer)
        if fires is None:
            yield replace(link, missing=f"{firing.missing(timer)} of {timer.name}", places=(timer.place,))
            continue
        link = replace(
            link, window=fires.window, lower=fires.lower, upper=fires.upper, places=values(timer),
            assumptions=(*fires.defaults, *_transit(timer.start)),
        )  # fmt: skip
        yield link if timer.renew is None else _renewed(design, timer, link)


def _renewed(design: Design, timer: Timer, link: EventLink) -> EventLink:
    """Returns when a timer fires that is renewed: known where its renewals are further apart than it waits."""
    sender = design.timers.get(_timer_named(timer.renew, timer.renew.text)) if isinstance(timer.renew, Event) else None
    fires = firing.despite_renewals(timer, sender)
    ender = design.timers.get(_timer_named(sender.unless, sender.unless.text)) if sender and sender.unless else None
    ended = firing.after_renewals(timer, sender, ender) if fires is None else None
    if ended is not None and sender is not None:
        missing, least = f"when {sender.name} comes last", FiringWindow(ended.window.earliest, ended.window.earliest)
        places = (*link.places, *(values(ender) if ender is not None else ()))
        return replace(
            link, window=ended.window, lower=ended.lower, upper=ended.upper, inner=least, missing=missing, places=places
        )
    if fires is None:
        missing = f"an end of the renewals of {timer.name}, which no key states: in time, they keep it from firing"
        missing += " (or the timer that sends them: `renew: NAME`)" if isinstance(timer.renew, Quantity) else ""
        return replace(link, missing=missing)
    alone = firing.lease(timer)
    return replace(link, window=fires.window, upper=fires.upper, inner=alone.window if alone is not None else None)


def without_renewals(timer: Timer, links_to: Causes) -> Causes:
    """Returns the links with those of one timer as they are where nothing renews it."""
    fires, key = firing.lease(timer), f"{timer.name} fires"
    if timer.renew is None or fires is None:
        return links_to
    own = (
        replace(link, window=fires.window, missing="") if link.name == timer.name else link for link in links_to[key]
    )
    return {**links_to, key: tuple(own)}


def values(timer: Timer) -> tuple[Place, ...]:
    """Returns the places of the numbers of a timer, the one that a reader would change first in front."""
    numbers = (timer.after, timer.misses, timer.first, timer.every, timer.reply_within, timer.jitter)
    return tuple(number.place for number in numbers if number is not None) or (timer.place,)


def _transit(event: Event) -> tuple[str, ...]:
    words = event.text.removesuffix(" seen")
    return (f"the way from '{words}' to '{event.text}' takes the same time each time",) if words != event.text else ()


def _ended(design: Design) -> Iterator[EventLink]:
    members = (event for event in names.events(design) if event.kind in ("starts", "ends"))
    mentioned = {event.subject: event.place for event in members if event.activity}
    for component in things(design).values():
        for activity, span in (component.takes or {}).items():
            mentioned.pop(f"{component.name}.{activity}", None)
            yield from _ends_of(_duration(design, component, activity, span), _apart(design, component, activity))
    for subject, place in mentioned.items():
        thing, _, activity = subject.partition(".")
        drain = stated_drain(design.components.get(thing), activity)
        window = FiringWindow(Fraction(0), None) if drain is None else FiringWindow(drain.low, drain.high)
        stated, missing = (place, f"{activity} time of {thing}") if drain is None else (drain.place, "")
        yield from _ends_of(_activity(subject, window, places=(stated,), missing=missing))


def _activity(subject: str, window: FiringWindow, *, places: tuple[Place, ...], missing: str = "") -> EventLink:
    lower, upper = rational(window.earliest), rational(window.latest) if window.latest is not None else ""
    begins, ends = f"{subject} starts", f"{subject} ends"
    return EventLink("activity", subject, begins, ends, window, lower, upper, places, missing)


def _duration(design: Design, component: Component, activity: str, span: Quantity) -> EventLink:
    """Returns the link from the start of an activity to its end, with the calls that are made in it."""
    link = _activity(f"{component.name}.{activity}", FiringWindow(span.low, span.high), places=(span.place,))
    inside = calling(design, component, activity)
    if inside is None:
        return link
    return lasting_for(replace(link, calling=inside, places=(span.place, *inside.places)), inside.calm)


def lasting_for(link: EventLink, time: CallingTime) -> EventLink:
    """Returns the link with the window of a time that calls take."""
    upper = rational(time.window.latest) if time.window.latest is not None else ""
    return replace(
        link, window=time.window, upper=upper, missing=time.open, assumptions=time.assumptions, inner=time.reached
    )


def lasting(design: Design, subject: str) -> EventLink:
    """Returns the link from the start of a stated activity to its end in its own time."""
    return next(link for link in event_graph(design)[f"{subject} ends"] if link.kind == "activity")


def with_failures(links_to: Causes) -> Causes:
    """Returns the links with activities as long as they are where tries of the calls in them fail."""
    return {effect: tuple(_where_tries_fail(link) for link in links) for effect, links in links_to.items()}


def _where_tries_fail(link: EventLink) -> EventLink:
    return link if link.calling is None else lasting_for(link, link.calling.failing)


def _apart(design: Design, component: Component, activity: str) -> str:
    """Returns that members need not start an activity together, where a timer of each starts it after a wait of its
    own, or one that runs from an activity of each; nothing where none does.
    """
    thing = component.name
    for timer in design.timers.values():
        then, start = timer.then, timer.start
        if then is None or then.kind != "starts" or then.subject != f"{thing}.{activity}" or start is None:
            continue
        before = (component.takes or {}).get(start.activity) if start.thing == thing and start.kind == "ends" else None
        own = timer.per is not None and timer.per.text in (thing, *MEMBER)
        own = own or (start.thing == thing and start.kind == "starts" and not start.of)
        waits = own and ((fires := firing.firing(timer)) is None or not fires.window.exact)
        if waits or (before is not None and not start.of and not before.exact):
            return f"whether all of {thing} start {activity} together: {timer.name} starts it in each by itself"
    return ""


def _ends_of(link: EventLink, apart: str = "") -> Iterator[EventLink]:
    thing, _, activity = link.name.partition(".")
    together = f"members of {thing} start {activity} together"
    yield link
    for prefix in ("all of", "first"):
        of_many = replace(link, effect=f"{prefix} {link.effect}", assumptions=(together, *link.assumptions))
        window = FiringWindow(Fraction(0), None)
        yield replace(of_many, window=window, lower="0.0", upper="", missing=apart) if apart else of_many


def _begun(design: Design) -> Iterator[EventLink]:
    for timer in design.timers.values():
        if timer.then is None:
            continue
        effect = key_of(timer.then, design)
        if effect == f"{timer.name} fires" or (timer.then.kind == "ends" and "." in effect):
            continue
        alone, rivals = _alone(design, timer, effect) if timer.then.kind == "starts" else ((), ())
        yield EventLink(
            "begins", effect, f"{timer.name} fires", effect, NOW, places=(timer.then.place,), assumptions=alone,
            rivals=rivals,
        )  # fmt: skip


def _drained(design: Design) -> Iterator[EventLink]:
    """Yields that a thing begins to drain where a timer orders its end (`evict web`), and nothing else starts that.

    Where a limit counts its members that are up, or down, or the orders, nothing says for how long it refuses one.
    """
    for timer in design.timers.values():
        thing = drained_by(timer.then.text) if timer.then is not None and timer.then.kind == "outside" else ""
        component = things(design).get(thing)
        if component is None or timer.then is None:
            continue
        for activity, _ in in_role(component, "drain")[:1]:
            effect, stated = f"{thing}.{activity} starts", (f"'{timer.then.text}' starts {thing}.{activity}",)
            budgets = [name for name, limit in design.limits.items() if _may_refuse(limit, thing, timer)]
            yield EventLink(
                "begins", effect, f"{timer.name} fires", effect, FiringWindow(Fraction(0), None) if budgets else NOW,
                places=(timer.then.place,), assumptions=stated, upper="" if budgets else "0.0",
                missing=f"how long {budgets[0]} refuses '{timer.then.text}'" if budgets else "",
            )  # fmt: skip


def _may_refuse(limit: Limit, thing: str, timer: Timer) -> bool:
    """Decides whether a limit counts how many members of a thing are up, or down, or how often a timer ends them."""
    waits = limit.when_full is not None and limit.when_full.text in ("reject", "wait")
    counted = frozenset(UP_OR_DOWN).union(STATES["failures"] if waits else ())
    paths = [path.rpartition(".") for path in names_of(limit.counts.tree)] if limit.counts is not None else []
    orders = waits and ("", "", timer.name) in paths
    return orders or any(head == thing and word in counted for head, _, word in paths)


def _alone(design: Design, timer: Timer, effect: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns what is taken for granted about other starts of what a timer starts: that there are none, or of some."""
    started = ((t.name, t.then) for t in design.timers.values() if t.then is not None and t.then.kind == "starts")
    others = [name for name, then in started if name != timer.name and key_of(then, design) == effect]
    what = timer.then.subject if timer.then is not None else ""
    if not others:
        return (f"only {timer.name} starts {what}",), ()
    return (), (f"a {what} that {' or '.join(others)} started ends no later than one that {timer.name} starts",)


def _followed(design: Design) -> Iterator[EventLink]:
    """Yields links between activities of a member in the order of `takes`, without those that a loop sets."""
    apart = set_by_loops(design)
    for component in things(design).values():
        whole = (f"{component.name}.{activity}" for activity in _activities(component))
        for before, after in itertools.pairwise(activity for activity in whole if activity not in apart):
            cause, effect = f"{before} ends", f"{after} starts"
            yield EventLink("follows", effect, cause, effect, FiringWindow(Fraction(0), None), upper="")


def set_by_loops(design: Design) -> dict[str, str]:
    """Returns signal -> the loop that writes it."""
    acting = ((name, loop.actuation.signal) for name, loop in design.loops.items() if loop.actuation is not None)
    return {signal.text: name for name, signal in acting if signal is not None}


def without_rests(links_to: Causes) -> Causes:
    """Returns the links with each activity starting as soon as the one listed before it ends, said as an assumption."""
    return {effect: tuple(_at_once(link) for link in links) for effect, links in links_to.items()}


def _at_once(link: EventLink) -> EventLink:
    if link.kind != "follows":
        return link
    order = f"{link.effect} as soon as {link.cause} (the order of takes)"
    return replace(link, window=NOW, upper="0.0", assumptions=(order,))
