"""Finds how often what renews a timer comes, and whether that is in time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question, rational
from coherence.language.design import Design, Timer
from coherence.language.roles import pause_of
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event
from coherence.verify.events import event_ways, graph
from coherence.verify.events.clock_lives import across_lives, is_over_for_good
from coherence.verify.events.graph import Causes, Chain, EventLink
from coherence.verify.events.orders import Alternatives, EventOrder, hull, relation, total
from coherence.verify.events.periods import brought_by, periods
from coherence.verify.timers import firing
from coherence.verify.timers.firing import NOW, FiringWindow


@dataclass(frozen=True)
class Renewal:
    """How long it takes from one renewal to the next, where that stands, the timer that sends it and by which way.

    `beside`: other timers that send it.  `pause`: in what its sender stands still, which is counted in the interval.
    """

    interval: FiringWindow
    place: Place
    timer: Timer | None = None
    way: Chain = ()
    beside: tuple[Timer, ...] = ()
    lifted: str = ""  # what may keep it from coming each time
    pause: tuple[str, Quantity] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the timers that send it."""
        return tuple(timer.name for timer in (self.timer, *self.beside) if timer is not None)


def in_time(design: Design, timer: Timer) -> bool | None:
    """Decides whether renewals always come before the timer fires; None where that is not known."""
    lease = firing.lease(timer)
    renewal = renewal_of(design, timer) if timer.renew is not None else None
    if timer.renew is None or (lease is not None and renewal is not None and renewal.interval.latest is None):
        return False
    if lease is None or renewal is None:
        return None
    assert renewal.interval.latest is not None
    timely = renewal.interval.latest < lease.window.earliest
    return None if timely and renewal.lifted else timely


def kept_from_firing(design: Design, timer: Timer, first: str) -> Renewal | None:
    """Returns the renewals that keep a timer from ever firing after an event; None where none surely do.

    They come from a timer that looks again and again, which nothing ends, so that each comes before the timer would
    fire: one of the same outside event, or one that brings the first event about itself.
    """
    return _begun_together(design, timer) or _begun_by_the_same(design, timer, first)


def _begun_by_the_same(design: Design, timer: Timer, first: str) -> Renewal | None:
    """Returns the renewals of a timer that began outside and brings the first event about, again and again."""
    renewal = renewal_of(design, timer) if isinstance(timer.renew, Event) else None
    sender, lease = renewal.timer if renewal is not None else None, firing.lease(timer)
    if renewal is None or sender is None or sender.start is None or lease is None or renewal.interval.latest is None:
        return None
    causes, fires = graph.event_graph(design), f"{sender.name} fires"
    lasting = sender.every is not None and sender.unless is None and sender.renew is None and sender.part is None
    alone = sender.per is None or (timer.per is not None and sender.per.text == timer.per.text)
    if not (lasting and alone) or graph.key_of(sender.start, design) in causes:
        return None
    brings = (chain for chain in event_ways.ways(fires, first, causes, design) if chain)
    surely = any(all(link.kind in ("begins", "activity") and not link.missing for link in chain) for chain in brings)
    return renewal if surely and renewal.interval.latest < lease.window.earliest else None


def _begun_together(design: Design, timer: Timer) -> Renewal | None:
    """Returns the renewals of a timer that begins with the renewed one, at an outside event."""
    sender, lease = _sender(design, timer.renew) if isinstance(timer.renew, Event) else None, firing.lease(timer)
    if sender is None or lease is None or timer.start is None or timer.start.kind != "outside":
        return None
    lasting = sender.every is not None and sender.unless is None and sender.renew is None and sender.part is None
    first = firing.firing(sender) if lasting and firing.starts_with(sender, timer) else None
    apart = hull(list(periods(design, sender))) if first is not None and any(periods(design, sender)) else None
    if first is None or apart is None or apart.latest is None or first.window.latest is None:
        return None
    pause = _pause(design, timer.renew.text if isinstance(timer.renew, Event) else "", sender)
    longest = max(first.window.latest, apart.latest) + (pause[1].high if pause is not None else 0)
    return Renewal(apart, graph.values(sender)[0], sender, pause=pause) if longest < lease.window.earliest else None


def _sender(design: Design, renew: Event) -> Timer | None:
    """Returns the one timer of which a renewal comes: by its name, or as what comes of its firing."""
    key = graph.key_of(renew, design)
    links = graph.event_graph(design).get(key, ())
    causes = {link.cause if link.kind == "begins" else "" for link in links} if not key.endswith(" fires") else {key}
    return design.timers.get(causes.pop().removesuffix(" fires")) if len(causes) == 1 else None


def missing(design: Design, timer: Timer) -> str:
    """Returns what would say whether renewals come in time; nothing where that is known."""
    if timer.renew is None or in_time(design, timer) is not None:
        return ""
    key, renewal = firing.missing(timer), renewal_of(design, timer)
    if key or renewal is None or not renewal.lifted:
        return f"{key} of {timer.name}" if key else f"the interval at which '{timer.renew.text}' repeats"
    return f"whether {renewal.lifted} fires each time while {timer.name} runs"


def unless_renewed(question: Question, design: Design, timer: Timer, answer: Finding) -> Finding:
    """Returns the answer, or, where renewals could keep the timer from firing, what would say so; a proof holds."""
    needs = missing(design, timer) if answer.verdict is Verdict.CONFLICT else ""
    return question.undecided(f"needs {needs}: {answer.message}", answer.places, answer.of) if needs else answer


def renewal_of(design: Design, timer: Timer) -> Renewal | None:
    """Returns what renews a timer, the first time too where that begins with it; None where nothing says how often."""
    renew = timer.renew
    if isinstance(renew, Quantity):
        return Renewal(FiringWindow(renew.low, renew.high), renew.place)
    assert isinstance(renew, Event)
    renewal = _sent(design, renew, graph.event_graph(design))
    sender, lease = renewal.timer if renewal is not None else None, firing.lease(timer)
    if renewal is None or sender is None or lease is None or sender is timer:
        return renewal
    interval, first = renewal.interval, firing.lease(sender)
    if first is not None and firing.starts_with(sender, timer):
        begun = first.window + total(renewal.way)
        latest = None if None in (interval.latest, begun.latest) else max(interval.latest or 0, begun.latest or 0)
        interval = FiringWindow(interval.earliest, Fraction(latest) if latest is not None else None)
    own = {firing.ended_by(timer), *(event.thing for event in (timer.start, timer.unless) if event is not None)}
    if sender.start is None or sender.start.thing not in own:
        interval = _across_lives(design, replace(renewal, interval=interval), sender, "")[0]
    both = {event.thing for event in (timer.start, timer.unless) if event is not None and event.thing}
    return replace(renewal, interval=interval, lifted=_lifted(design, renewal, both))


def _sent(design: Design, renew: Event, links_to: Causes) -> Renewal | None:
    """Returns the interval of a timer that repeats: one with `every`, or one that runs from its own last firing.

    What a firing brings about, as the end of an activity that it starts, comes as often, later or sooner by as much as
    the way there may differ; what leads to itself comes again after each of its rounds.  Of several that go on side by
    side the quickest one says how long it takes at most.
    """
    event = graph.key_of(renew, design)
    ways = ((),) if event.endswith(" fires") else event_ways.chains(event, links_to)
    if len(ways) > 1:
        return _quickest(design, [sent for way in ways if (sent := _by(design, event, way)) is not None])
    sent = _by(design, event, ways[0])
    rounds = event_ways.rounds(event, links_to)
    if sent is None or not rounds or any(link.missing for chain in rounds for link in chain):
        return sent
    return replace(sent, interval=hull([total(chain) for chain in rounds]))


def _by(design: Design, event: str, way: Chain) -> Renewal | None:
    """Returns how often an event comes by one way to it; None where no timer that repeats is on it."""
    fires = next((i for i, link in enumerate(way) if _repeats(design, link.cause)), -1)
    way = way[: fires + 1]
    sender = design.timers.get((way[-1].cause if way else event).removesuffix(" fires"))
    apart = list(periods(design, sender)) if sender is not None else []
    lasting = any(link.kind == "activity" and link.rivals for link in way)
    if sender is None or not apart or lasting or any(link.missing for link in way):
        return None
    interval, pause = _moved(hull(apart), total(way)), _pause(design, event, sender)
    if pause is not None:
        interval = _moved(interval, FiringWindow(Fraction(0), pause[1].high))
    return Renewal(interval, graph.values(sender)[0], sender, way, pause=pause)


def _pause(design: Design, event: str, sender: Timer) -> tuple[str, Quantity] | None:
    """Returns in what the thing of an event, or what its sender runs from, stands still; the longest of both."""
    things = {event.partition(" ")[0].partition(".")[0], sender.start.thing if sender.start is not None else ""}
    pauses = [(f"{thing}.{own[0]}", own[1]) for thing in sorted(things) if (own := pause_of(design, thing)) is not None]
    return max(pauses, key=lambda pause: pause[1].high, default=None)


def _quickest(design: Design, renewals: list[Renewal]) -> Renewal | None:
    """Returns the quickest of those that count from nothing and that nothing lifts; they may come together."""
    lasting: list[tuple[Fraction, Renewal]] = []
    for renewal in renewals:
        sender, latest = renewal.timer, renewal.interval.latest
        first = firing.firing(sender) if sender is not None and sender.start is None else None
        if first is not None and first.window.latest is not None and latest is not None:
            lasting += [] if _lifted(design, renewal) else [(max(latest, first.window.latest), renewal)]
    if not lasting:
        return None
    latest, quickest = min(lasting, key=lambda each: each[0])
    beside = tuple(own.timer for own in renewals if own.timer is not None and own.timer is not quickest.timer)
    return replace(quickest, interval=FiringWindow(Fraction(0), latest), beside=beside)


def _lifted(design: Design, renewal: Renewal, both: Collection[str] = ()) -> str:
    """Returns the first timer on the way of a renewal that does not fire each time; nothing where all do.

    `both`: things whose events end what is renewed as well.
    """
    passed = [renewal.timer, *(design.timers[link.name] for link in renewal.way if link.kind == "timer")]
    for timer in (timer for timer in passed if timer is not None):
        ended = timer.unless is not None and timer.unless.thing not in both
        if ended or timer.misses is not None or timer.sees is not None or timer.renew is not None:
            return timer.name
    return ""


def until_again(design: Design, event: Event, since: Event, second: str, links_to: Causes) -> Alternatives:
    """Returns the comparisons of the next time that an event comes, which a timer brings again and again, with a second
    one that runs from what came of it the last time (`since`); of what else brings `since` about it is not known how
    long after the first one that is.
    """
    first, begins = (graph.key_of(one, design) for one in (event, since))
    every = [_until(chain, first) for chain in event_ways.chains(begins, links_to)] if first != begins else [()]
    ways = [way for way in every if way is not None]
    brought = [first, *(link.cause for chain in event_ways.chains(first, links_to) for link in chain)]
    if not ways or event_ways.rounds(first, links_to) or not any(_repeats(design, cause) for cause in brought):
        return ()  # what comes round by itself is meant as it follows
    again = _comes_again(design, event, first, links_to, design.timers[second.removesuffix(" fires")])
    sent = _sent(design, event, links_to)
    runs = [chain[:1] for chain in event_ways.chains(second, links_to) if chain and chain[0].cause == begins]
    late = hull([total(way) for way in ways]).latest
    meets = any(ways) and (late is None or late >= again.window.earliest)
    needs = f"how long after '{event.text}' comes a '{since.text}' that does not follow it"
    unknown = replace(again, window=FiringWindow(Fraction(0), None), missing=needs)
    also = len(ways) < len(every) or _may_be_ended(design, since, second)
    goes_on = sent is not None and sent.timer is not None and sent.timer.start is None
    soon = {run: EventOrder(begins, (_at_any_time(again, begins),), run) for run in runs}
    in_time = {run: [order] if relation(order) == "before" else [] for run, order in soon.items()}
    otherwise = [(EventOrder(first, (unknown,), run), *(in_time[run] if goes_on else [])) for run in runs if also]
    follows = [(run, EventOrder(first, (again,), (*run, *way))) for run in runs for way in ways]
    several = sent is not None and bool(sent.beside)  # they come together in some run: the next one follows both

    def meant(order: EventOrder) -> EventOrder:
        apart = again.missing or not meets or (several and relation(order) == "possible")
        return order if apart else replace(order, again=first)

    followed = ((meant(order), *in_time[run]) for run, order in follows)
    return (*followed, *otherwise)


def _at_any_time(again: EventLink, since: str) -> EventLink:
    """Returns the link from any moment to the next time that an event comes, which comes again and again."""
    return replace(again, cause=since, window=FiringWindow(Fraction(0), again.window.latest), lower="0.0", inner=None)


def sent_by(design: Design, event: Event, links_to: Causes) -> tuple[str, ...]:
    """Returns the names of the timers that bring an event again and again; none where how often is not known."""
    renewal = _sent(design, event, links_to)
    return renewal.names if renewal is not None else ()


def _may_be_ended(design: Design, event: Event, second: str) -> bool:
    """Decides whether another timer than the second event's may bring the end that an event is, at whatever time."""
    ends = (event.thing, event.subject) if event.kind == "ends" else ()
    return any(firing.ended_by(timer) in ends for name, timer in design.timers.items() if f"{name} fires" != second)


def _until(chain: Chain, event: str) -> Chain | None:
    """Returns the part of a way back that ends at an event; None where the event is not on it."""
    end = next((n for n, link in enumerate(chain) if link.cause == event), None)
    return chain[: end + 1] if end is not None else None


def _comes_again(design: Design, event: Event, key: str, links_to: Causes, waiting: Timer) -> EventLink:
    """Returns the link from an event to the next time that it comes; what is missing where that is not known.

    What a waiting timer ends takes its clocks with it; those of other things begin anew while it waits.
    """
    renewal = _sent(design, event, links_to)
    if renewal is None or renewal.timer is None:
        return EventLink(
            "timer", "", key, key, FiringWindow(Fraction(0), None), missing=f"how often '{event.text}' comes"
        )
    sender, lifted = renewal.timer, _lifted(design, renewal)
    interval, anew, over = _across_lives(design, renewal, sender, firing.ended_by(waiting))
    needs = f"whether {lifted} fires each time" if lifted else f"`returns` of {over}, with which {sender.name} ends"
    apart = FiringWindow(interval.earliest, None if lifted or over else interval.latest)
    on_the_way = tuple(text for link in renewal.way for text in link.assumptions)
    return EventLink(
        "timer", sender.name, key, key, apart, rational(apart.earliest),
        "" if apart.latest is None else rational(apart.latest), (renewal.place,),
        needs if lifted or over else "", (f"{sender.name} goes on", *anew, *on_the_way),
    )  # fmt: skip


def _across_lives(
    design: Design, renewal: Renewal, sender: Timer, ended: str
) -> tuple[FiringWindow, tuple[str, ...], str]:
    """Returns how far apart renewals are where the clock that they come of may begin anew between two, what that takes
    for granted, and what ends with the clock for good; `ended`: what takes its clocks with it.
    """
    own, interval, anew, over = firing.lease(sender), renewal.interval, tuple[str, ...](), ""
    late = own.window if own is not None and sender.every is None else NOW
    for name in dict.fromkeys((sender.name, *brought_by(design, sender))):
        clock = design.timers[name]
        if clock.every is not None and (clock.start is None or clock.start.thing != ended):
            interval, anew = across_lives(design, clock, interval, total(renewal.way) + late)
            over = over or is_over_for_good(design, clock)
    return interval, anew, over


def _repeats(design: Design, event: str) -> bool:
    """Decides whether an event is a firing of a timer that fires again."""
    timer = design.timers.get(event.removesuffix(" fires")) if event.endswith(" fires") else None
    return timer is not None and any(periods(design, timer))


def _moved(apart: FiringWindow, late: FiringWindow) -> FiringWindow:
    """Returns how far apart events are that follow others, each by a time of its own within a window."""
    if late.latest is None:
        return FiringWindow(Fraction(0), None)
    span = late.latest - late.earliest
    return FiringWindow(max(Fraction(0), apart.earliest - span), None if apart.latest is None else apart.latest + span)
