"""Finds timers that end what they count from, and say of nothing that it keeps them from it: `then: kill x`."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.language.design import Design, Timer
from coherence.language.roles import in_role, whole_life
from coherence.language.sentences import Event, event_of
from coherence.verify.events import graph
from coherence.verify.patterns.timers._overrun import OverrunCase, case_of
from coherence.verify.timers import firing


def cases(design: Design) -> Iterator[OverrunCase]:
    """Yields how each of them stands to the end of the work that it ends, or else of the start of its thing."""
    ending = {timer.name: _end_of_own(design, timer) for timer in design.timers.values() if timer.unless is None}
    causes = graph.without_rests(graph.event_graph(design)) if any(ending.values()) else {}
    for name, event in ending.items():
        if event is not None:
            yield case_of(design, design.timers[name].replace(unless=event), causes)


def _end_of_own(design: Design, timer: Timer) -> Event | None:
    start, then = graph.first_event(design, timer), timer.then
    plain = timer.every is None and timer.renew is None and timer.after is not None and not firing.never(timer)
    if not plain or start is None or then is None or start.thing not in design.components:
        return None
    longest = then.kind == "ends" and then.activity  # `then: x.drain ends` is how long it may be
    target = firing.ended_by(timer) if not longest else ""
    thing, _, named = target.partition(".")
    if thing != start.thing:
        return None
    activity = _that_leads_on(design, start, named) if named else _of_whole(design, start)
    return event_of(f"{thing}.{activity} ends", then.place) if activity else None


def _of_whole(design: Design, start: Event) -> str:
    """Returns the activity of a thing that ends with the thing, of those that an event begins; "" for none."""
    component, activity = design.components[start.thing], start.activity or whole_life(design, start.thing)
    if not activity:
        activity = next((name for name, _ in reversed(in_role(component, "start"))), "")
    return activity if start.kind == "starts" and activity in (component.takes or {}) else ""


def _that_leads_on(design: Design, start: Event, named: str) -> str:
    """Returns an activity that ends by its name, where an event is its start or comes before it; "" where it is not."""
    takes = [*(design.components[start.thing].takes or {})]
    if named not in takes or (start.activity and start.activity not in takes):
        return ""
    at, end = takes.index(start.activity) if start.activity else 0, takes.index(named)
    return named if at < end or (at == end and start.kind == "starts") else ""
