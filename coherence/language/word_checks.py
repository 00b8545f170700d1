"""Reports activities, roles, causes of failure and resources that cannot be meant: near misses of those known.

And a burst beside a rate that switches, which are two statements of how one rate moves.
"""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.language.design import Call, Component, Design, Job, Randomness, Workload, needed
from coherence.language.names import events, nearest
from coherence.language.schema_kinds import Quantity, Reading
from coherence.language.words import CAUSES, plain_word

KNOWN_CAUSES: tuple[str, ...] = sum(CAUSES.values(), ())


def check(design: Design, reading: Reading) -> None:
    """Reports every near miss with what may be meant."""
    for workload in design.workload.values():
        _bursts(workload, reading)
    for component in design.components.values():
        _roles(component, reading)
    for event in events(design):
        owner = design.components.get(event.thing)
        if owner is not None and event.activity:
            _activity(owner, event.activity, event.place, reading)
    for call in design.calls:
        _causes(call, reading)
    _resources(design, reading)


def _bursts(workload: Workload, reading: Reading) -> None:
    stated = workload.arrivals
    switches = [switch.rate for switch in stated.switches] if isinstance(stated, Randomness) else []
    if workload.burst is not None and workload.burst.rate is not None and any(switches):
        message = f"a burst of '{workload.name}' stands beside `switches`: only one of them can count"
        reading.problem(workload.burst.rate.place, message, "write the burst as one of the switches")


def _roles(component: Component, reading: Reading) -> None:
    takes = component.takes or {}
    for activity, word in (component.roles or {}).items():
        if activity not in takes:
            near = nearest(activity, takes)
            remedy = f"did you mean '{near}'?" if near else f"add `takes: {{{activity}: ...}}`"
            reading.problem(word.place, f"'{component.name}' has no activity '{shorten(activity)}'", remedy)


def _activity(owner: Component, activity: str, place: Place, reading: Reading) -> None:
    known = {*(owner.takes or {}), *owner.constants}
    near = None if activity in known else nearest(activity, known)
    if near is not None:
        reading.problem(place, f"'{owner.name}' has no activity '{shorten(activity)}'", f"did you mean '{near}'?")


def _causes(call: Call, reading: Reading) -> None:
    known = (*KNOWN_CAUSES, *(plain_word(name) for name in call.fails or {}))
    for cause in call.retry_when or ():
        word = plain_word(cause.text)
        near = None if word in known else nearest(word, known)
        if near is not None:
            reading.problem(cause.place, f"'{shorten(word)}' is not a cause of failure here", f"did you mean '{near}'?")


def _resources(design: Design, reading: Reading) -> None:
    """Reports what is needed and offered nowhere: a near miss of what is, or by a thing that is placed."""
    in_places = {key for place in design.places.values() for key, value in place.items() if isinstance(value, Quantity)}
    in_places -= {"count"}
    offered = in_places.union(design.components, *(component.constants for component in design.components.values()))
    owners: tuple[Component | Job, ...] = (*design.components.values(), *design.jobs.values())
    for owner in owners:
        for resource, need in needed(owner).items():
            if resource in offered or not in_places:
                continue
            near = next((name for name in (f"{resource}s", resource.removesuffix("s")) if name in offered), None)
            near = near or nearest(resource, sorted(offered))
            if near is not None or owner.name in design.placement:
                remedy = (
                    f"did you mean '{near}'?" if near else f"add `{resource}: ...` to a place, 0 where there is none"
                )
                reading.problem(need.place, f"nothing offers '{shorten(resource)}'", remedy)
