"""Finds how long a removed thing still answers: its drain, stated by the component or by a timer.

A component says it as `drain: 60 s` or `takes: {drain: 60 s}`.  A timer says it when it ends the thing
(`then: stop pool`) some time after an event of draining (`pool drains`, `drain starts`, `spot notice`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.language.design import Component, Design, Timer
from coherence.language.entries.actions import acted_on, action_in, drained_by
from coherence.language.roles import role, stated_drain, time_of
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.graph import Chain
from coherence.verify.timers.firing import FiringWindow, ended_by

NO_NEW_WORK = "{} begins no new work once it drains"
WAITS = "the drain of {} waits for calls in flight: its shortest time is that of an idle member"
WHOLE_DRAIN = "nothing ends {} before its drain is over"
UNLISTS = "takes off the list"
_ORDERLY = ("drain", "stop", "terminat", "shutdown", "shut down", "unlist", "scale down", "deleted")
_TAKEN = ("preempt", "reclaim", "evict", "notice", "interrupt")  # by whoever needs the place, whatever is under way


@dataclass(frozen=True)
class Drain:
    """From the event on, `thing` answers for `lasts` seconds and is then gone.

    `reached`: how long new calls still reach it, at most.
    `waits`: it ends as soon as nothing is in flight any more; `lasts` is its longest time.
    """

    name: str  # of the timer, or of the component that says it
    thing: str
    lasts: DurationInterval
    place: Place
    text: str
    reached: Fraction
    waits: bool = False

    @property
    def assumed(self) -> tuple[str, ...]:
        """Returns what a proof takes for granted of how the drain ends that a thing states."""
        words = WAITS if self.waits else WHOLE_DRAIN
        return (words.format(self.thing),) if self.name == self.thing else ()


def drains(design: Design) -> Iterator[Drain]:
    """Yields every drain of the design."""
    for component in design.components.values():
        stated = stated_drain(component, "drain")
        activity = time_of(component, "drain")
        if stated is not None:
            yield _of_component(design, component, stated, DurationInterval(stated.low, stated.high))
        elif activity is not None:  # it waits for what is in flight: its shortest time is that of an idle member
            longest = DurationInterval(activity.high, activity.high)
            yield _of_component(design, component, activity, longest, waits=not activity.exact)
    for timer in design.timers.values():
        thing = ended_by(timer)
        if thing and (chain := _from_draining(design, timer)):
            lasts = orders.total(chain)
            after = timer.after.text if len(chain) == 1 and isinstance(timer.after, Quantity) else orders.between(lasts)
            yield Drain(
                timer.name, thing, DurationInterval(lasts.earliest, lasts.latest), graph.values(timer)[0], after,
                reached=_reached_before(design, timer, thing, lasts.earliest),
            )  # fmt: skip


def graces(design: Design) -> Iterator[tuple[Timer, str, Chain]]:
    """Yields each timer that ends a thing, or an activity of it, so long after it was told to end in its own time,
    what it ends, and the way from that order to its firing.
    """
    for timer in design.timers.values():
        thing = ended_by(timer)
        chain = _from_draining(design, timer) if thing else ()
        if chain and any(word in chain[-1].cause for word in _ORDERLY):
            yield timer, thing, chain


def _from_draining(design: Design, timer: Timer) -> Chain:
    """Returns the way from the event that begins a drain to the firing of a timer; empty where none leads there."""
    chain = next(iter(event_ways.chains(f"{timer.name} fires", graph.event_graph(design))), ())
    begun = [number for number, link in enumerate(chain, 1) if _begins_drain(link.cause)]
    return chain[: begun[0]] if begun else ()


def _begins_drain(event: str) -> bool:
    return not event.endswith((" ends", " fires")) and tells_to_go(event)


def tells_to_go(event: str) -> bool:
    """Decides whether an event tells a thing that it is to go, by its words (`pod deleted`, `spot notice`)."""
    return any(word in event for word in (*_ORDERLY, *_TAKEN))


def _reached(design: Design, thing: str) -> Fraction:
    """Returns how long after its drain began new calls still reach a thing, at most: a timer `then: unlist thing`."""
    unlisting = (_from_draining(design, timer) for timer in _unlist(design, thing))
    return max((orders.total(chain).latest or ZERO for chain in unlisting if chain), default=ZERO)


def _reached_before(design: Design, timer: Timer, thing: str, lasts: Fraction) -> Fraction:
    """Returns the same of a drain that a timer ends, where one event leads to both timers; `lasts` at the least."""
    delays = [_reached(design, thing)]
    for other in _unlist(design, thing):
        gaps = _gaps(design, f"{other.name} fires", f"{timer.name} fires")
        delays = [lasts - min(gap.earliest for gap in gaps)] if gaps else delays
    late = _behind(design, thing, f"{timer.name} fires")
    return lasts + late if late else max(delays)


def _behind(design: Design, thing: str, event: str) -> Fraction:
    """Returns how long after an event a timer takes a thing off the list, at most; 0 where none does after it."""
    gaps = (gap for other in _unlist(design, thing) for gap in _gaps(design, event, f"{other.name} fires"))
    return max((gap.latest for gap in gaps if gap.latest is not None), default=ZERO)


def _gaps(design: Design, first: str, second: str) -> list[FiringWindow]:
    """Returns how long after one event another comes, by each way that leads to both; nothing where one is open."""
    ties = orders.alternatives(first, second, graph.event_graph(design))
    gaps = [orders.gap(order) if order is not None else None for together in ties for order in together]
    return [gap for gap in gaps if gap is not None] if None not in gaps else []


def _unlist(design: Design, thing: str) -> Sequence[Timer]:
    return _unlisting(design).get(thing, ())


@cached
def _unlisting(design: Design) -> dict[str, list[Timer]]:
    """Returns thing -> the timers that take it off the list."""
    timers: dict[str, list[Timer]] = {}
    for timer in design.timers.values():
        then = timer.then.text if timer.then is not None else ""
        if action_in(then) == UNLISTS and not drained_by(then):
            timers.setdefault(acted_on(then), []).append(timer)
    return timers


def _of_component(
    design: Design, component: Component, stated: Quantity, lasts: DurationInterval, *, waits: bool = False
) -> Drain:
    """Returns the drain that a thing states; where a timer begins it, what is late to unlist it counts from then."""
    name, causes = component.name, graph.event_graph(design)
    begun = [event for activity in component.takes or {} if role(component, activity) == "drain"
             and (event := f"{name}.{activity} starts") in causes]  # fmt: skip
    reached = max(_behind(design, name, event) for event in begun) if begun else _reached(design, name)
    return Drain(name, name, lasts, stated.place, stated.text, reached, waits=waits)
