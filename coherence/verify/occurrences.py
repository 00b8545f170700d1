"""What makes each event of a design happen, and which of two events comes first.

An event has a key: `server.load ends`, `liveness fires`, or the words of an outside event.  A link
says that its effect follows its cause within a window; a chain is the links from an event back to
one that nothing in the design causes.  Two events are comparable where their chains meet.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence import names
from coherence.design import Component, Design, Timer
from coherence.phrases import Event
from coherence.places import Place
from coherence.subject import Certificate, rational
from coherence.units import decimal, seconds
from coherence.verify import timers
from coherence.verify.timers import NOW, Window

MOST_CHAINS = 32


@dataclass(frozen=True, slots=True)
class Link:
    """`effect` follows `cause` within `window`.  `kind`: timer, activity, begins (at once), follows (in order).

    `lower` and `upper` are the ends of the window as SMT-LIB terms; `missing` names the fact without
    which the window is not known; `places` are the values it was read from, the deciding one first.
    """

    kind: str
    name: str
    cause: str
    effect: str
    window: Window
    lower: str = "0.0"
    upper: str = "0.0"
    places: tuple[Place, ...] = ()
    missing: str = ""
    assumptions: tuple[str, ...] = ()


Chain = tuple[Link, ...]
Causes = Mapping[str, tuple[Link, ...]]


@dataclass(frozen=True, slots=True)
class Order:
    """Two events measured from the nearest event that causes both."""

    common: str
    first: Chain
    second: Chain

    @property
    def windows(self) -> tuple[Window, Window]:
        return total(self.first), total(self.second)

    @property
    def missing(self) -> str:
        return next((link.missing for link in self.first + self.second if link.missing), "")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for link in self.second + self.first for text in link.assumptions))


def total(chain: Chain) -> Window:
    """The time from the first cause of a chain to its event."""
    return sum((link.window for link in chain), NOW)


def key_of(event: Event, design: Design) -> str:
    """One key for all spellings of an event: `server starts` is the start of its first activity."""
    words = event.text.removesuffix(" seen")
    if event.kind == "starts" and not event.activity and not event.of:
        activities = _activities(design.components.get(event.thing))
        if activities:
            return f"{event.thing}.{activities[0]} starts"
    timer = design.timers.get(_timer_named(event, words))
    if timer is not None:
        return _timer_event(event, words, timer, design)
    if event.kind in ("starts", "ends") and event.activity:
        prefix = {"all": "all of ", "": ""}.get(event.of, f"{event.of} ")
        return f"{prefix}{event.subject} {event.kind}"
    return words


def _timer_named(event: Event, words: str) -> str:
    if event.of:
        return ""
    return event.subject if event.kind in ("starts", "ends") else words.removesuffix(" fires")


def _timer_event(event: Event, words: str, timer: Timer, design: Design) -> str:
    """A timer's name is its firing; `liveness starts` is the event it runs from, `liveness ends` what ends it first."""
    if event.kind == "outside":
        return f"{timer.name} fires"
    other = timer.start if event.kind == "starts" else timer.unless
    if other is None or _timer_named(other, other.text) in design.timers:
        return words
    return key_of(other, design)


def _activities(component: Component | None) -> tuple[str, ...]:
    return tuple(component.takes or ()) if component is not None else ()


def causes(design: Design) -> Causes:
    """Effect -> the links that can bring it about (several: any of them may)."""
    found: dict[str, list[Link]] = {}
    for link in itertools.chain(_fired(design), _ended(design), _begun(design)):
        found.setdefault(link.effect, []).append(link)
    for link in _followed(design):
        found.setdefault(link.effect, [link])
    return {effect: tuple(links) for effect, links in found.items()}


def _fired(design: Design) -> Iterator[Link]:
    for timer in design.timers.values():
        if timer.start is None or timers.never(timer):
            continue
        link = Link("timer", timer.name, key_of(timer.start, design), f"{timer.name} fires", Window(Fraction(0), None))
        fires = timers.firing(timer)
        if fires is None:
            yield replace(link, missing=f"{timers.missing(timer)} of {timer.name}", places=(timer.place,))
            continue
        yield replace(
            link, window=fires.window, lower=fires.lower, upper=fires.upper, places=values(timer),
            assumptions=(*fires.defaults, *_transit(timer.start)),
        )  # fmt: skip


def values(timer: Timer) -> tuple[Place, ...]:
    """The places of the numbers of a timer, the one that a reader would change first in front."""
    numbers = (timer.after, timer.misses, timer.first, timer.every, timer.reply_within, timer.jitter)
    return tuple(number.place for number in numbers if number is not None) or (timer.place,)


def _transit(event: Event) -> tuple[str, ...]:
    if not event.text.endswith(" seen"):
        return ()
    return (f"the way from '{event.text.removesuffix(' seen')}' to '{event.text}' takes the same time each time",)


def _ended(design: Design) -> Iterator[Link]:
    asked = {event.subject: event.place for event in names.events(design) if event.kind == "ends" and event.activity}
    for component in design.components.values():
        for activity, span in (component.takes or {}).items():
            asked.pop(f"{component.name}.{activity}", None)
            window = Window(span.low, span.high)
            yield from _ends_of(f"{component.name}.{activity}", window, span.place, "")
    for subject, place in asked.items():
        thing, _, activity = subject.partition(".")
        yield from _ends_of(subject, Window(Fraction(0), None), place, f"{activity} time of {thing}")


def _ends_of(subject: str, window: Window, place: Place, missing: str) -> Iterator[Link]:
    upper = rational(window.latest) if window.latest is not None else ""
    link = Link("activity", subject, f"{subject} starts", f"{subject} ends", window, rational(window.earliest), upper, (place,), missing)
    together = f"members of {subject.partition('.')[0]} start {subject.partition('.')[2]} together"
    yield link
    for prefix in ("all of", "first"):
        yield replace(link, effect=f"{prefix} {subject} ends", assumptions=(together,))


def _begun(design: Design) -> Iterator[Link]:
    for timer in design.timers.values():
        if timer.then is None or timer.then.kind == "ends":
            continue
        effect = key_of(timer.then, design)
        if effect != f"{timer.name} fires":
            yield Link("begins", effect, f"{timer.name} fires", effect, NOW, places=(timer.then.place,))


def _followed(design: Design) -> Iterator[Link]:
    """Activities of a member run in the order of `takes`; how long it rests between two is not said."""
    for component in design.components.values():
        for before, after in itertools.pairwise(_activities(component)):
            cause, effect = f"{component.name}.{before} ends", f"{component.name}.{after} starts"
            yield Link("follows", effect, cause, effect, Window(Fraction(0), None), upper="")


def without_rests(found: Causes) -> Causes:
    """The same with each activity starting as soon as the one listed before it ends, said as an assumption."""
    return {effect: tuple(_at_once(link) for link in links) for effect, links in found.items()}


def _at_once(link: Link) -> Link:
    if link.kind != "follows":
        return link
    return replace(link, window=NOW, upper="0.0", assumptions=(f"{link.effect} as soon as {link.cause} (the order of takes)",))


def chains(event: str, found: Causes) -> tuple[Chain, ...]:
    """Every way back from an event; a cycle stops where it closes.  Raises OverflowError beyond MOST_CHAINS."""
    ways = tuple(itertools.islice(_back(event, found, (event,)), MOST_CHAINS + 1))
    if len(ways) > MOST_CHAINS:
        raise OverflowError(f"more than {MOST_CHAINS} ways lead to '{event}'")
    return ways


def _back(event: str, found: Causes, seen: tuple[str, ...]) -> Iterator[Chain]:
    links = [link for link in found.get(event, ()) if link.cause not in seen]
    if not links:
        yield ()
    for link in links:
        for rest in _back(link.cause, found, (*seen, link.cause)):
            yield (link, *rest)


def orders(first: str, second: str, found: Causes) -> tuple[Order | None, ...]:
    """One comparison for each pair of ways back; None where the two never meet."""
    pairs = itertools.product(chains(first, found), chains(second, found))
    return tuple(dict.fromkeys(_meet(first, one, second, other) for one, other in pairs))


def _meet(first: str, one: Chain, second: str, other: Chain) -> Order | None:
    ways = [second, *(link.cause for link in other)]
    for depth, event in enumerate([first, *(link.cause for link in one)]):
        if event in ways:
            return Order(event, one[:depth], other[: ways.index(event)])
    return None


def relation(order: Order) -> str:
    """`before`, `touches`, `possible`, `after` or `unknown`: how the first event stands to the second.

    `touches`: the worst case of the first is the best case of the second, and exactly one of the two
    contains an activity, so that a stated worst case meets a limit; between clocks that is a conflict.
    """
    one, other = order.windows
    if not order.second:
        return "after"
    if not order.first:
        return "before"
    if one.latest is not None and one.latest < other.earliest:
        return "before"
    if one.latest == other.earliest and has_activity(order.first) != has_activity(order.second):
        return "touches"
    if other.latest is not None and one.earliest >= other.latest:
        return "after"
    return "unknown" if one.latest is None or order.missing else "possible"


def has_activity(chain: Chain) -> bool:
    """Does the chain contain the duration of an activity (a stated range), not only timers?"""
    return any(link.kind == "activity" for link in chain)


def certificate(order: Order, claim: str) -> str:
    """SMT-LIB: under the windows of all links, first `claim` second (`<` or `<=`), both counted from the common cause."""
    constants, facts = {}, []
    for link in order.first + order.second:
        name = _symbol(link)
        constants[name] = "Real"
        facts.append(f"(>= {name} {link.lower})")
        if link.upper:
            facts.append(f"(<= {name} {link.upper})")
    return Certificate(constants, tuple(facts), f"({claim} {_sum(order.first)} {_sum(order.second)})").script()


def _symbol(link: Link) -> str:
    return f"|{link.effect.translate(str.maketrans('|' + chr(92), '__'))}|"


def _sum(chain: Chain) -> str:
    parts = [_symbol(link) for link in chain]
    return f"(+ {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "0.0"


def between(window: Window) -> str:
    """`140 s to 150 s`, `600 s`, `at least 5 s`; both ends in one unit where that reads well."""
    if window.latest is None:
        return f"at least {seconds(window.earliest)}"
    ends = [seconds(window.earliest), seconds(window.latest)]
    if ends[0].split()[-1] != ends[1].split()[-1] and 1 <= window.earliest and window.latest < 1000:
        ends = [f"{decimal(end)} s" for end in (window.earliest, window.latest)]
    return ends[0] if window.exact else f"{ends[0]} to {ends[1]}"
