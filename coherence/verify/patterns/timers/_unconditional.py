"""Finds timers that end what is running, and say of nothing that it keeps them from it: `then: kill x`.

What they count from is running, or what another timer starts after the same event: a checkpoint at a notice.  It ends
with what it runs on as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from coherence.language.design import Design, Timer
from coherence.language.entries.actions import drained_by
from coherence.language.roles import in_role, stated_drain, things, whole_life
from coherence.language.sentences import Event, event_of
from coherence.verify.events import graph, orders
from coherence.verify.events.endings import ending_with, with_decided_ends
from coherence.verify.events.graph import Causes
from coherence.verify.events.orders import RANKS, EventOrder
from coherence.verify.patterns.timers._overrun import OverrunCase, case_of, comes_surely
from coherence.verify.timers import firing


def cases(design: Design) -> Iterator[OverrunCase]:
    """Yields how each of them stands to the end of the work that it ends, or else of the start of its thing."""
    ending = [timer for timer in design.timers.values() if timer.unless is None and _ends_once(timer)]
    causes = with_decided_ends(design, graph.without_rests(graph.event_graph(design))) if ending else {}
    once, others = _once(design, causes), set[str]()
    for timer in ending:
        own = _end_of_own(design, timer)
        stand = [_of_own(design, timer, own, causes, once)] if own is not None else []
        stand += _of_begun(design, timer, causes, once, without=own.subject if own is not None else "")
        others.update([] if stand else [timer.name])
        yield from stand
    if others:
        from coherence.verify.patterns.timers import _graces

        yield from _graces.cases(design, others)


def _ends_once(timer: Timer) -> bool:
    plain = timer.every is None and timer.renew is None and not firing.never(timer)
    return plain and (timer.after or timer.first) is not None and timer.start is not None and timer.then is not None


def _once(design: Design, causes: Causes) -> Causes:
    """Returns the links without those of timers that fire again and again."""
    again = {timer.name for timer in design.timers.values() if timer.every is not None and timer.misses is None}
    return {effect: tuple(link for link in links if link.name not in again) for effect, links in causes.items()}


def _of_begun(
    design: Design, timer: Timer, causes: Causes, once: Causes, *, without: str = ""
) -> Iterator[OverrunCase]:
    """Yields how a timer stands to those activities that it ends which others start once after the same event."""
    ended, _, named = _ended(timer).partition(".")
    for thing, component in things(design).items() if ended and timer.then is not None else ():
        if thing != ended and (named or not _runs_on(design, thing, ended)):
            continue
        for activity in component.takes or {}:
            subject = f"{thing}.{activity}"
            if subject != without and named in ("", activity):
                yield from _of_runs(design, timer, subject, causes, once)


def _of_runs(design: Design, timer: Timer, subject: str, causes: Causes, once: Causes) -> list[OverrunCase]:
    """Returns how a timer stands to each run of an activity that another one starts: those that it may cut, or all.

    Each is compared by itself: the end of one of them lifts no timer that ends another.
    """
    begins = f"{subject} starts"
    links = [link for link in once.get(begins, ()) if link.kind == "begins"]
    starting = [*dict.fromkeys(link.cause.removesuffix(" fires") for link in causes.get(begins, ()) if link.rivals)]
    stand = []
    for link in links:
        others = [name for name in starting if f"{name} fires" != link.cause]
        apart = tuple(
            f"{name} starts {subject} too: what it starts is compared by itself, if at all" for name in others
        )
        alone = replace(link, rivals=(), assumptions=(*link.assumptions, *apart))
        starts = _begun_before(begins, timer, {**once, begins: (alone,)})
        if starts:
            stand.append(_of_run(design, timer, subject, {**causes, begins: (alone,)}, starts))
    cut = [case for case in stand if case.relation != "before"]
    return sorted(cut, key=lambda case: RANKS.index(case.relation))[-1:] or stand


def _of_run(design: Design, timer: Timer, subject: str, causes: Causes, starts: tuple[EventOrder, ...]) -> OverrunCase:
    """Returns how a timer stands to the end of a run: not in conflict for certain with one that may begin only when the
    timer has fired.
    """
    assert timer.then is not None
    case = case_of(design, timer.replace(unless=event_of(f"{subject} ends", timer.then.place)), causes)
    late = case.relation not in ("before", "unknown") and any(orders.relation(o) != "before" for o in starts)
    needs = f"needs whether {subject} begins before {timer.name} fires"
    surely = all(comes_surely(design, "", link) for order in starts for link in order.first)
    if case.relation == "after" and (not surely or _may_be_cut_before(design, timer, subject, causes)):
        case = replace(case, relation="possible")
    return replace(case, relation="unknown", needs=needs) if late else case


def _may_be_cut_before(design: Design, timer: Timer, subject: str, causes: Causes) -> bool:
    """Decides whether another timer may end an activity before this one fires, by the end of its thing or its host."""
    ends = {subject, *ending_with(design, subject.partition(".")[0])}
    fires = f"{timer.name} fires"
    for other in design.timers.values():
        orderly = other.then is not None and drained_by(other.then.text)
        if other.name != timer.name and not firing.never(other) and not orderly and _ended(other) in ends:
            ways = orders.alternatives(f"{other.name} fires", fires, causes)
            met = [order for together in ways for order in together if order is not None]
            if any(orders.relation(order) != "after" for order in met):
                return True
    return False


def _begun_before(starts: str, timer: Timer, causes: Causes) -> tuple[EventOrder, ...]:
    """Returns how an activity's start, by a timer, stands to a firing that may come after it."""
    every = orders.alternatives(starts, f"{timer.name} fires", causes)
    met = (order for together in every for order in together if order is not None and order.first and order.second)
    begun = [order for order in met if order.first[0].kind == "begins"]
    return tuple(order for order in begun if orders.relation(order) != "after")


def _of_own(design: Design, timer: Timer, own: Event, causes: Causes, once: Causes) -> OverrunCase:
    """Returns how a timer stands to the end of what it counts from: open where that begins again before it fires."""
    from coherence.verify.patterns.timers._begun_twice import starts_apart

    case = case_of(design, timer.replace(unless=own), causes)
    links = [link for link in once.get(f"{own.subject} starts", ()) if link.kind == "begins" and link.rivals]
    starting = [design.timers[link.cause.removesuffix(" fires")] for link in links]
    for first, other in itertools.combinations(starting, 2):
        apart, latest = starts_apart(design, first, other), case.order.windows[1].latest
        if case.relation == "before" and apart is not None and (latest is None or apart.earliest < latest):
            needs = f"needs whether a {own.subject} that {other.name} starts is over when {timer.name} fires"
            return replace(case, relation="unknown", needs=needs)
    return case


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
