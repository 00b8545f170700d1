"""Finds timers that end what is running, and say of nothing that it keeps them from it: `then: kill x`.

What they count from is running, or what another timer starts after the same event: a checkpoint at a notice.  It ends
with what it runs on as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coherence.language.design import Design, Timer
from coherence.language.roles import in_role, stated_drain, things, whole_life
from coherence.language.sentences import Event, event_of
from coherence.verify.events import graph, orders
from coherence.verify.events.graph import Causes
from coherence.verify.events.orders import EventOrder
from coherence.verify.patterns.timers._overrun import OverrunCase, case_of
from coherence.verify.timers import firing


def cases(design: Design) -> Iterator[OverrunCase]:
    """Yields how each of them stands to the end of the work that it ends, or else of the start of its thing."""
    ending = [timer for timer in design.timers.values() if timer.unless is None and _ends_once(timer)]
    causes, others = graph.without_rests(graph.event_graph(design)) if ending else {}, set()
    for timer in ending:
        own = _end_of_own(design, timer)
        events = [own] if own is not None else [*_ends_of_begun(design, timer, causes)]
        others.update([] if events else [timer.name])
        for event in events:
            case = case_of(design, timer.replace(unless=event), causes)
            yield case if own is not None else _where_it_runs(case, causes)
    if others:
        from coherence.verify.patterns.timers import _graces

        yield from _graces.cases(design, others)


def _ends_once(timer: Timer) -> bool:
    plain = timer.every is None and timer.renew is None and not firing.never(timer)
    return plain and (timer.after or timer.first) is not None and timer.start is not None and timer.then is not None


def _ends_of_begun(design: Design, timer: Timer, causes: Causes) -> Iterator[Event]:
    """Yields the ends of those activities of the thing that it ends which a timer starts once after the same event."""
    thing, _, named = _ended(timer).partition(".")
    if timer.then is None or thing not in things(design):
        return
    again = {timer.name for timer in design.timers.values() if timer.every is not None and timer.misses is None}
    causes = {effect: tuple(link for link in links if link.name not in again) for effect, links in causes.items()}
    for activity in things(design)[thing].takes or {}:
        starts = f"{thing}.{activity} starts"
        begun = any(link.kind == "begins" for link in causes.get(starts, ()))
        if begun and named in ("", activity) and _begun_before(starts, timer, causes):
            yield event_of(f"{thing}.{activity} ends", timer.then.place)


def _begun_before(starts: str, timer: Timer, causes: Causes) -> tuple[EventOrder, ...]:
    """Returns how an activity's start, by a timer, stands to a firing that may come after it."""
    every = orders.alternatives(starts, f"{timer.name} fires", causes)
    met = (order for together in every for order in together if order is not None and order.first and order.second)
    begun = [order for order in met if order.first[0].kind == "begins"]
    return tuple(order for order in begun if orders.relation(order) != "after")


def _where_it_runs(case: OverrunCase, causes: Causes) -> OverrunCase:
    """Not in conflict for certain where the activity may begin only once the timer has fired."""
    ends = case.timer.unless.subject if case.timer.unless is not None else ""
    late = [o for o in _begun_before(f"{ends} starts", case.timer, causes) if orders.relation(o) != "before"]
    if case.relation in ("before", "unknown") or not late:
        return case
    return replace(case, relation="unknown", needs=f"needs whether {ends} begins before {case.timer.name} fires")


def _end_of_own(design: Design, timer: Timer) -> Event | None:
    start, then = graph.first_event(design, timer), timer.then
    if start is None or then is None or start.thing not in things(design):
        return None
    thing, _, named = _ended(timer).partition(".")
    if thing != start.thing and (named or not _runs_on(design, start.thing, thing)):
        return None
    activity = _that_leads_on(design, start, named) if named else _of_whole(design, start)
    return event_of(f"{start.thing}.{activity} ends", then.place) if activity else None


def _runs_on(design: Design, thing: str, host: str) -> bool:
    from coherence.verify.events.endings import ending_with

    return host in ending_with(design, thing)


def _ended(timer: Timer) -> str:
    """Returns what a timer ends; "" for `then: x.drain ends`, which is how long that may be."""
    longest = timer.then is not None and timer.then.kind == "ends" and timer.then.activity
    return "" if longest else firing.ended_by(timer)


def _of_whole(design: Design, start: Event) -> str:
    """Returns the activity of a thing that ends with the thing, of those that an event begins; "" for none."""
    component, activity = things(design)[start.thing], start.activity or whole_life(design, start.thing)
    if not activity:
        activity = next((name for name, _ in reversed(in_role(component, "start"))), "")
    states = activity in (component.takes or {}) or stated_drain(component, activity) is not None
    return activity if start.kind == "starts" and states else ""


def _that_leads_on(design: Design, start: Event, named: str) -> str:
    """Returns an activity that ends by its name, where an event is its start or comes before it; "" where it is not."""
    takes = [*(things(design)[start.thing].takes or {})]
    if named not in takes or (start.activity and start.activity not in takes):
        return ""
    at, end = takes.index(start.activity) if start.activity else 0, takes.index(named)
    return named if at < end or (at == end and start.kind == "starts") else ""
