"""Finds what a timer that ends a thing bounds: the calls of its work, or what is in flight when it drains.

A timer bounds a call only where its origin precedes the work that makes the call in every run and nothing lifts it
before.  A grace runs from a shutdown: it bounds what is in flight then, and not each call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.language.design import Design, Timer
from coherence.language.roles import role, unknown_activities
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import DurationInterval
from coherence.verify.calls.call_graph import CallTree, Enclosure, enclosure_of
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.events import event_ways, graph, orders
from coherence.verify.events.along_calls import answering
from coherence.verify.timers import firing
from coherence.verify.timers.firing import FiringWindow, ended_by

_APART = ("drain", "apart")


def _work_ended(design: Design, timer: Timer) -> str:
    """Returns the thing whose work a timer ends, with all of it or by the activity in which it answers; or nothing."""
    thing, _, activity = ended_by(timer).partition(".")
    return thing if not activity or answering(design, thing) == f"{thing}.{activity}" else ""


def enclosures(design: Design, tree: CallTree) -> Iterator[Enclosure]:
    """Yields limits from outside: the try of a caller, the patience of a workload, a timer that ends the thing."""
    for plan in tree.plans:
        if plan.callee in tree.of_caller and not tree.on_cycle(plan) and (limit := enclosure_of(plan)):
            yield limit
    for name, workload in design.workload.items():
        if name in tree.of_caller and workload.deadline is not None:
            span = DurationInterval(workload.deadline.low, workload.deadline.high)
            yield Enclosure(name, name, span, workload.deadline.place, f"{name} waits {workload.deadline}")
    for timer in design.timers.values():
        thing = _work_ended(design, timer)
        if thing in tree.of_caller and (left := time_left(design, timer, thing)) is not None:
            span, ask = DurationInterval(left.earliest, left.latest), _open_role(design, timer, thing)
            text = f"{timer.name} ends {thing} after {_written(timer, left)}"
            yield Enclosure(timer.name, thing, span, graph.values(timer)[0], text, ask=ask, activity=_activity(timer))


@dataclass(frozen=True)
class EndOfTries:
    """What ends the tries of a call, so long after the first began; `stops`: that it does is said.

    `always`: every request of the caller stands under it.  `around`: what encloses the work of the caller, if that is
    what ends them.
    """

    span: DurationInterval
    text: str
    place: Place
    stops: bool = True
    always: bool = True
    around: Enclosure | None = None


def ends_of_tries(design: Design, tree: CallTree, plan: RetryPolicy) -> Iterator[EndOfTries]:
    """Yields the deadline of a call and what ends the work of its caller; work that is left behind goes on."""
    if plan.deadline is not None and isinstance(plan.call.deadline, Quantity):
        yield EndOfTries(plan.deadline, "by its deadline", plan.call.deadline.place)
    for around in _enclosing(design, tree, plan):
        outer = around.plan
        left = outer.call.on_timeout.text if outer is not None and outer.call.on_timeout is not None else ""
        stops = left == "cancel" if outer is not None else around.inside == plan.caller and not around.ask
        always = tree.callers.get(plan.caller, ()) in ((), (outer.caller if outer is not None else "",))
        if left != "abandon":
            text, place = f"with what encloses it ({around.text})", around.place.labelled("its caller ends here")
            yield EndOfTries(around.limit, text, place, stops, always, around)


def _enclosing(design: Design, tree: CallTree, plan: RetryPolicy) -> Iterator[Enclosure]:
    """Yields what ends the work in which a call is made, at any depth."""
    outward, waiting = {plan.caller}, [plan.caller]
    while waiting:
        fresh = [name for name in tree.callers.get(waiting.pop(), ()) if name not in outward]
        outward.update(fresh)
        waiting += fresh
    return (around for around in enclosures(design, tree) if around.inside in outward)


def _written(timer: Timer, window: FiringWindow) -> str:
    """Returns the time of a timer as it is written, where that is the whole of it."""
    span = timer.after
    same = isinstance(span, Quantity) and (span.low, span.high) == (window.earliest, window.latest)
    return str(span) if same else orders.between(window)


def time_left(design: Design, timer: Timer, thing: str) -> FiringWindow | None:
    """Returns how long after the work of a thing begins a timer ends it; None where it bounds no call of that."""
    fires, start = firing.firing(timer), timer.start
    own, asks = start is not None and start.thing == thing, _open_role(design, timer, thing)
    lifted = not asks and _lifted_before(design, timer, thing)
    if fires is None or lifted or timer.renew is not None or (own and _is_apart(design, timer, thing)):
        return None
    work = "" if asks else answering(design, thing)
    left = _after_work_begins(design, timer, f"{work} starts") if work else None
    return left or (fires.window if own else None)


def _after_work_begins(design: Design, timer: Timer, begins: str) -> FiringWindow | None:
    """Returns the time from the start of the work to the firing, where in every run one event leads to both."""
    links_to = graph.without_rests(graph.event_graph(design))
    ways = orders.alternatives(begins, f"{timer.name} fires", links_to)
    gaps = [orders.gap(order) if order is not None else None for together in ways for order in together]
    return orders.hull(gap for gap in gaps if gap is not None) if gaps and None not in gaps else None


def _is_apart(design: Design, timer: Timer, thing: str) -> bool:
    """Decides whether a timer runs from a drain, or from what goes on beside the work."""
    component, start = design.components.get(thing), timer.start
    stated = component is not None and start is not None and start.kind == "starts"
    return stated and component is not None and start is not None and role(component, start.activity) in _APART


def _lifted_before(design: Design, timer: Timer, thing: str) -> bool:
    """Decides whether what lifts a timer has happened, after the timer began, whenever the work of a thing begins."""
    component, end, start = design.components.get(thing), timer.unless, timer.start
    if component is None or end is None or start is None:
        return False
    work, key = answering(design, thing), graph.key_of(end, design)
    passed = event_ways.chains(f"{work} starts", graph.event_graph(design)) if work else ()
    ready = end.kind == "ends" and end.thing == thing and role(component, end.activity) == "start"
    begins, armed = f"{work} starts", graph.key_of(start, design)
    return ready or (bool(passed) and all(_comes_between(key, armed, begins, chain) for chain in passed))


def _comes_between(key: str, armed: str, begins: str, chain: graph.Chain) -> bool:
    """Decides whether an event is on the way back to where a timer began; one before that is of an earlier round."""
    events = [begins, *(link.cause for link in chain)]
    since = events[: events.index(armed)] if armed in events else events
    return key in since


def _activity(timer: Timer) -> str:
    """Returns the activity that a timer bounds from its start to its end; nothing where it is another stretch."""
    start, end = timer.start, timer.unless
    lifted = start is not None and end is not None and (end.kind, end.subject) == ("ends", start.subject)
    return start.activity if start is not None and lifted else ""


def _open_role(design: Design, timer: Timer, thing: str) -> str:
    """Returns what to ask where nothing says whether the thing makes its calls in the activity that a timer bounds."""
    activity = _activity(timer)
    if activity not in unknown_activities(design, thing):
        return ""
    return f"`roles: {{{activity}: answer}}` of {thing} if it makes its calls in its {activity}, else `apart`"
