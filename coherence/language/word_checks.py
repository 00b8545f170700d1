"""Reports activities, roles, causes of failure, resources and values that cannot be meant.

Of words these are near misses of those known; and a burst beside a rate that switches, which are two statements of how
one rate moves.  What a key of a link, a tier, a boundary, a workload, a job or a place says is a number, or a word.  An
expression there has been replaced by its number (`implied.with_named_numbers`) where it is made of constants; any other
is read by no answer, and so is one in another unit.  Zero fits any unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.base.units import ONE, SECOND, Dimension, respelled, shorten, unit
from coherence.language.design import Call, Component, Design, Job, Loop, needed
from coherence.language.infrastructure import Hosting, Link
from coherence.language.names import PLANT, distance, events, nearest, related, resolve, things, used_names
from coherence.language.roles import role
from coherence.language.schema_kinds import Formula, Quantity, Reading, Word
from coherence.language.sentences import Event
from coherence.language.words import ACTIVITIES, CAUSES, EVENTS, plain_word
from coherence.language.workloads import Randomness, Spread2, Workload

KNOWN_CAUSES: tuple[str, ...] = sum(CAUSES.values(), ())
KNOWN_ACTIVITIES: tuple[str, ...] = sum(ACTIVITIES.values(), ())
_HAPPENINGS: tuple[str, ...] = sum(EVENTS.values(), ())
PER_SECOND = ONE / SECOND
BYTE, BYTES, WATT, TOKEN = (unit(text)[1] for text in ("B", "B/s", "W", "token"))
EXAMPLES = {
    ONE: "8", SECOND: "500 ms", PER_SECOND: "120 req/s", BYTE: "80 GB", BYTES: "10 GB/s", WATT: "700 W",
    TOKEN: "900 token",
}  # fmt: skip
WORDS = {
    ONE: "a number", SECOND: "a duration", PER_SECOND: "a rate", BYTES: "bytes per second",
    TOKEN: "a number of tokens",
}  # fmt: skip
PEAK_UNIT, PEAK_EXAMPLE = "FLOP", "990 TFLOP/s"
_TIMES = dict.fromkeys(("mtbf", "checkpoint"), SECOND)
LINKS: Mapping[str, Dimension] = {"bandwidth": BYTES, "latency": SECOND, "jitter": SECOND}
TIERS: Mapping[str, Dimension] = {
    "memory": BYTE, "message_size": BYTE, "device_mtbf": SECOND, "peak": PER_SECOND,
    **dict.fromkeys(("memory_bandwidth", "link_bandwidth", "port_bandwidth"), BYTES),
    **dict.fromkeys(("board_power", "idle_power", "full_power", "sleep_power"), WATT),
}  # fmt: skip
BOUNDARIES: Mapping[str, Dimension] = dict.fromkeys(("gain", "reading_gain", "instances", "quota"), ONE)
JOBS: Mapping[str, Dimension] = {**_TIMES, "leaves_after": SECOND, "copies": ONE}
PLACES: Mapping[str, Dimension] = dict.fromkeys(("count", "lost", "drained"), ONE)
BESIDE_STATE: Mapping[str, tuple[str, ...]] = {  # what is said of a state in other words, by the key that says it
    "range": ("range", "bounds", "limits", "min", "max", "minimum", "maximum", "least", "most", "lower", "upper"),
    "from": ("initial", "init", "start", "starts", "initially", "initial_value"),
    "step": ("every", "period", "interval", "dt", "timestep", "time_step"),
}  # fmt: skip
NUMERIC = (*LINKS, *TIERS, *BOUNDARIES, "granularity", "noise", "leaves_after", *PLACES, *_TIMES)


def check(design: Design, reading: Reading) -> None:
    """Reports every near miss with what may be meant, and every value that its key cannot have."""
    check_units(design, reading)
    for workload in design.workload.values():
        _bursts(workload, reading)
        _goes_nowhere(workload, design, reading)
    used = used_names(design)
    for component in design.components.values():
        _roles(component, reading)
        _takes(component, used, reading)
        _beside_state(component, used, reading)
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


def _goes_nowhere(workload: Workload, design: Design, reading: Reading) -> None:
    """Reports where a workload says by a key of its own where it goes, which calls say."""
    for key, value in workload.constants.items():
        thing = str(value)
        if key in ("to", "target", "component", "service_name") and thing in design.components:
            message = f"a workload does not say by '{key}' where it goes"
            remedy = f"write its call: `calls: [{{from: {workload.name}, to: {thing}}}]`"
            reading.problem(value.place, message, remedy)


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


def _beside_state(component: Component, used: frozenset[str], reading: Reading) -> None:
    """Reports a value that nothing reads beside an inline state of which it says how far, from where or how often."""
    match = PLANT.fullmatch(component.state.text) if component.state is not None else None
    if match is None:
        return
    path, step = f"{component.name}.{match[1]}", component.step
    bounded = f"{match[1]}' = max(0, min(100, ...))" if step else f"{match[1]}' = 0 if {match[1]} >= 100 else ..."
    remedies = {
        "range": f"bound it in its formula, `{bounded}`, or name '{{}}' there",
        "from": "write `from`, or name '{}' in an expression",
        "step": "write `step`, or name '{}' in an expression",
    }
    for name, value in component.constants.items():
        key = next((key for key, words in BESIDE_STATE.items() if name in words), None)
        if key is not None and used.isdisjoint((name, f"{component.name}.{name}")):
            message = f"'{name}' stands beside the state {path} and is a value of its own, which nothing reads"
            reading.problem(value.place, message, remedies[key].format(name))


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


@dataclass(frozen=True)
class KeyValue:
    """A value of a design, its key with the name of its entry, and the unit that it must have (None: any)."""

    stated: object
    text: str
    wanted: Dimension | None = None
    numeric: bool = False  # a word may not stand there either
    priced: bool = False
    counted: str = "req"  # what a rate is of


def check_units(design: Design, reading: Reading) -> None:
    """Reports every value in a unit that its key cannot have, and every expression that is no number."""
    for value in _values(design):
        _check_value(value, reading)
    _check_units_of_needs(design, reading)


def _check_value(value: KeyValue, reading: Reading) -> None:
    stated, wanted = value.stated, value.wanted
    if isinstance(stated, Quantity) and wanted is not None and stated.high:
        if not _fits(stated.dimension, wanted):
            what = WORDS.get(wanted, str(wanted))
            message = f"{value.text} is {shorten(stated.text)}, {what} expected"
            example = PEAK_EXAMPLE if value.counted == PEAK_UNIT else EXAMPLES[wanted]
            reading.problem(stated.place, message, f"write for example {example}")
    elif isinstance(stated, Quantity) and value.priced and ("usd", 1) not in stated.dimension.powers:
        message = f"{value.text} is {shorten(stated.text)}, a price expected"
        reading.problem(stated.place, message, "write for example 2.5 usd/h")
    elif isinstance(stated, Formula) and (value.numeric or not stated.is_word):
        message = f"{value.text} is '{shorten(stated.text)}', which no constants give a value"
        remedy = "write a quantity with its unit, or an expression of constants that no loop writes"
        if written := respelled(stated.text):
            message = f"{value.text} is '{shorten(stated.text)}', which is not a value"
            remedy = f"write {written.replace('req/', f'{value.counted}/')}"
        reading.problem(stated.place, message, remedy)


def _fits(dimension: Dimension, wanted: Dimension) -> bool:
    """Decides whether a key may have a unit: a number counts anything, and a rate is of anything by a time."""
    if wanted == PER_SECOND:
        return ("s", -1) in dimension.powers
    return dimension.physical == ONE if wanted == ONE else dimension.fits(wanted)


def _values(design: Design) -> Iterator[KeyValue]:
    for workload in design.workload.values():
        yield from _of_workload(workload)
    for name, component in design.components.items():
        yield KeyValue(component.copies if isinstance(component.copies, Quantity) else None, f"copies of {name}", ONE)
        for key, wanted in _TIMES.items():
            stated = component.constants.get(key)
            yield KeyValue(stated if isinstance(stated, Quantity) else None, f"{key} of {name}", wanted)
    for link in design.infrastructure.links if design.infrastructure else ():
        yield from _of_table(f"link {_ends(link)}", link.constants, LINKS)
    for name, tier in design.tiers.items():
        yield from _of_table(name, tier.constants, TIERS)
    for name, boundary in design.boundaries.items():
        yield from _of_table(name, boundary.constants, BOUNDARIES)
    for name, job in design.jobs.items():
        yield KeyValue(job.priority, f"priority of {name}", ONE)
        yield from _of_table(name, job.constants, JOBS)
    for name, place in design.places.items():
        yield from _of_table(name, place, PLACES)
    yield from (KeyValue(price, f"the price of {name}", priced=True) for name, price in design.prices.items())
    for loop in design.loops.values():
        limits = loop.actuation.rate if loop.actuation is not None else ()
        yield from (KeyValue(limit.percent, f"percent of {loop.name}", ONE) for limit in limits)


def _of_table(name: str, table: Mapping[str, object], wanted: Mapping[str, Dimension]) -> Iterator[KeyValue]:
    for key, stated in table.items():
        peak = key == "peak" or key.startswith("dense_")
        unit = wanted.get(key, PER_SECOND if peak else None)
        counted = PEAK_UNIT if peak else "req"
        yield KeyValue(stated, f"{key} of {name}", unit, numeric=key in NUMERIC, counted=counted)


def _of_workload(workload: Workload) -> Iterator[KeyValue]:
    rates: list[object] = [workload.rate, workload.burst.rate if workload.burst is not None else None]
    if isinstance(workload.arrivals, Randomness):
        rates += [switch.rate for switch in workload.arrivals.switches]
    yield from (KeyValue(rate, f"a rate of {workload.name}", PER_SECOND) for rate in rates)
    for key, wanted in (
        ("service", SECOND), ("residence", SECOND), ("tokens", TOKEN), ("prompt", TOKEN), ("answer", TOKEN),
        ("prefix", TOKEN),
    ):  # fmt: skip
        stated = getattr(workload, key)
        parts = [stated]
        if isinstance(stated, Spread2):
            parts = [stated.mean, stated.max, *(stated.quantiles or {}).values()]
        yield from (KeyValue(part, f"{key} of {workload.name}", wanted) for part in parts)
    yield from _of_table(workload.name, workload.constants, {})


def _ends(link: Link) -> str:
    return " and ".join(end.text for end in link.ends)


def _check_units_of_needs(design: Design, reading: Reading) -> None:
    """Reports what is needed of a resource in another unit than what the design has of it."""
    offers: dict[str, Quantity] = {}
    tables = (*(c.constants for c in design.components.values()), *design.places.values(),
              *(tier.constants for tier in design.tiers.values()))  # fmt: skip
    for table in tables:
        for key, stated in table.items():
            if isinstance(stated, Quantity) and stated.high:
                offers.setdefault(key, stated)
    owners: tuple[Component | Job, ...] = (*design.components.values(), *design.jobs.values())
    for owner in owners:
        if isinstance(owner.needs, Quantity) and owner.needs.high and not needed(owner):
            message = f"'{shorten(owner.needs.text)}', which {owner.name} needs, names no resource"
            reading.problem(owner.needs.place, message, "write for example `needs: {memory: 8 GiB}` or `needs: 2 gpu`")
        for resource, stated in needed(owner).items():
            offer = offers.get(resource)
            if offer is None or not stated.high or stated.dimension.fits(offer.dimension):
                continue
            message = f"{owner.name} needs {stated} of {resource}, of which there are {offer}"
            reading.problem(stated.place, message, "give both one unit")
