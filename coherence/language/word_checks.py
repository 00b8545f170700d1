"""Reports activities, roles, causes of failure and resources that cannot be meant: near misses of those known.

And a burst beside a rate that switches, which are two statements of how one rate moves.
"""

from __future__ import annotations

from collections.abc import Iterable

from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.language.design import Call, Component, Design, Job, Loop, needed
from coherence.language.infrastructure import Hosting
from coherence.language.names import distance, events, nearest, related, resolve, things, used_names
from coherence.language.roles import role
from coherence.language.schema_kinds import Quantity, Reading, Word
from coherence.language.sentences import Event
from coherence.language.words import ACTIVITIES, CAUSES, EVENTS, plain_word
from coherence.language.workloads import Randomness, Workload

KNOWN_CAUSES: tuple[str, ...] = sum(CAUSES.values(), ())
KNOWN_ACTIVITIES: tuple[str, ...] = sum(ACTIVITIES.values(), ())
_HAPPENINGS: tuple[str, ...] = sum(EVENTS.values(), ())


def check(design: Design, reading: Reading) -> None:
    """Reports every near miss with what may be meant."""
    for workload in design.workload.values():
        _bursts(workload, reading)
    used = used_names(design)
    for component in design.components.values():
        _roles(component, reading)
        _takes(component, used, reading)
        _hosted(component, design, reading)
    for event in events(design):
        owner = design.components.get(event.thing)
        if event.kind == "outside":
            _happening(event, design, reading)
        elif owner is not None and event.activity:
            _activity(owner, event.activity, event.place, reading)
    for call in design.calls:
        _causes(call, reading)
    _resources(design, reading)
    for loop in design.loops.values():
        _inside(loop, design, reading)
    for word in (word for boundary in design.boundaries.values() for word in boundary.hides):
        _hidden(word, design, reading)


def _inside(loop: Loop, design: Design, reading: Reading) -> None:
    """Reports where a loop cannot run: a word that is no boundary, component or tier, or `none` beside one."""
    places = (*design.boundaries, *design.components, *design.tiers)
    for word in loop.inside:
        if word.text == "none" and len(loop.inside) > 1:
            reading.problem(word.place, f"'{loop.name}' runs inside of something and of nothing", "leave out `none`")
        if word.text != "none" and word.text not in places:
            near = nearest(word.text, places)
            remedy = f"did you mean '{near}'?" if near else "write a boundary, a component, a tier, or `none`"
            reading.problem(word.place, f"'{shorten(word.text)}' is nothing that a loop runs inside", remedy)


def _hosted(component: Component, design: Design, reading: Reading) -> None:
    """Reports devices of something that is no tier."""
    host = component.runs_on
    if isinstance(host, Hosting) and host.tier and host.text not in design.tiers:
        near = nearest(host.text, design.tiers)
        remedy = f"did you mean '{near}'?" if near else "declare it in `infrastructure: {tiers: ...}`"
        reading.problem(host.tier.place, f"'{shorten(host.text)}' is no tier", remedy)


def _hidden(word: Word, design: Design, reading: Reading) -> None:
    """Reports what a boundary cannot hide: a signal of nothing that the design declares."""
    thing, known = resolve(word.text, design).partition(".")[0], things(design)
    if thing not in known:
        near = nearest(thing, known)
        remedy = f"did you mean '{near}'?" if near else "write a signal of a component, or a component"
        reading.problem(word.place, f"'{shorten(word.text)}' is no signal that a boundary hides", remedy)


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


def _takes(component: Component, used: frozenset[str], reading: Reading) -> None:
    """Reports an activity that nothing names or gives a role, and whose name is one slip away from a known one."""
    for activity, span in (component.takes or {}).items():
        if role(component, activity) or not used.isdisjoint((activity, f"{component.name}.{activity}")):
            continue
        near = next((word for word in KNOWN_ACTIVITIES if _slip(activity, word)), None)
        if near is not None and near not in (component.takes or {}):
            remedy = (
                f"did you mean '{near}'? Else say what it is to a caller: `roles: {{{activity}: answer}}` or `apart`"
            )
            reading.problem(span.place, f"'{shorten(activity)}' is no activity that is understood by its name", remedy)


def _slip(word: str, other: str) -> bool:
    """Decides whether two long words differ by one letter that is missing, doubled or in the wrong place."""
    moved = len(word) != len(other) or sorted(word) == sorted(other)
    long = min(len(word), len(other)) >= 5
    return long and moved and not related(word, other) and distance(word, other, 1) <= 1


def _happening(event: Event, design: Design, reading: Reading) -> None:
    """Reports words about a thing of the design that name no happening, or are one slip away from its start or end."""
    thing, _, verb = event.text.partition(" ")
    if thing.split(".")[0] not in design.components or " " in verb:
        return
    if not verb and "." in thing:
        remedy = f"write `{shorten(thing)} starts` or `{shorten(thing)} ends`"
        reading.problem(event.place, f"'{shorten(thing)}' does not say what happens", remedy)
    near = next((word for word in _HAPPENINGS if _slip(verb, word)), None)
    if near is not None:
        reading.problem(event.place, f"'{shorten(verb)}' is nothing that happens to {thing}", f"did you mean '{near}'?")


def _activity(owner: Component, activity: str, place: Place, reading: Reading) -> None:
    known = {*(owner.takes or {}), *owner.constants}
    near = None if activity in known else nearest(activity, known)
    if near is not None:
        reading.problem(place, f"'{owner.name}' has no activity '{shorten(activity)}'", f"did you mean '{near}'?")


def _causes(call: Call, reading: Reading) -> None:
    """Reports a cause one slip away from a known one; known is, too, what the other of the two keys names."""
    tried = {plain_word(cause.text): cause.place for cause in call.retry_when or ()}
    timed = {plain_word(name): time.place for name, time in (call.fails or {}).items()}
    slips = {word: near for word in tried if (near := _meant_cause(word, timed))}
    slips |= {word: near for word in timed if word not in slips.values() and (near := _meant_cause(word, tried))}
    for word, near in slips.items():
        place = (tried | timed)[word]
        reading.problem(place, f"'{shorten(word)}' is not a cause of failure here", f"did you mean '{near}'?")


def _meant_cause(word: str, others: Iterable[str]) -> str | None:
    """Returns the cause that is meant by one that is none."""
    known = (*KNOWN_CAUSES, *others)
    return None if word in known else nearest(word, known)


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
