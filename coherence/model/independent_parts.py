"""Splits a design into independent parts, so that each question can be asked of each part by itself.

A unit is one entry of a section (a loop, a call, a component, a promise).  Two units are joined when
both name one thing, declared or outside, or one event that somebody waits for.  Words are compared,
not their meaning, so that too much may be joined and never too little: a unit names every declared
thing whose name is a word of it, and everything that stands before a dot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.base.records import Record
from coherence.language import names
from coherence.language.design import Component, Design, Job, needed
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event, Promise
from coherence.language.words import STATES

SECTIONS = (
    "workload", "components", "claims", "loops", "calls", "timers", "limits", "jobs", "placement", "promises",
)  # fmt: skip
JOBS, PLACES = "<jobs>", "<places>"  # what all jobs share, and all placements where places have capacities
TRIES = "<tries>"  # what all calls share with a promise about the last try of one that it does not name
MEMORY = "<memory>"  # what limits on the sum of what requests hold share with admission and what is redone
_WORDS = re.compile(r"[a-z][a-z0-9_]*")
_BEFORE_A_DOT = re.compile(r"([a-z][a-z0-9_]*)\s*\.\s*[a-z]")
_AROUND_EVENTS = re.compile(r"^(?:last|first|all of) | (?:seen|fires)$")
_NAMES_OF_MANY = frozenset({"part", "layer", "objective", "note", "system", "summary", "contact", "logs"})


@dataclass(frozen=True)
class Unit:
    """One entry of a section: its name (of a call, its number), its line, and what it names."""

    section: str
    name: str | int
    line: int
    mentions: frozenset[str]


@dataclass(frozen=True)
class Words:
    """What stands in a record: words, words before a dot, events it waits for, and events it makes or only names."""

    words: frozenset[str]
    heads: frozenset[str]
    awaited: frozenset[str]
    emitted: frozenset[str]


@dataclass(frozen=True)
class Shared:
    """What joins the entries of a design: declared words, bare names, awaited events, names that stand for others."""

    declared: frozenset[str]
    bare: Mapping[str, str]
    awaited: frozenset[str]
    context: Mapping[str, str]


@cached
def parts(design: Design) -> tuple[tuple[Unit, ...], ...]:
    """Returns the units of a design, those that share something together, in the order of their first units."""
    return _parts(units_of(design))


@cached
@unnoted()
def units_of(design: Design) -> tuple[Unit, ...]:
    """Returns every entry of every section, with the things that it shares with others."""
    shared = _shared(design)
    return tuple(_unit(design, shared, section, name, entry) for section, name, entry in _all_entries(design))


def carry(previous: Design, edited: Design, touched: Iterable[Unit]) -> None:
    """Takes over units and parts from the design before an edit, where they are the same.

    For designs that declare the same names and differ in entries alone.
    """
    old, new = _shared(previous), [(unit, getattr(edited, unit.section)[unit.name]) for unit in touched]
    if any(query(previous) != query(edited) for query in (_redoes, _capacities, _resources, _last_tries)):
        return
    for unit, entry in new:
        before, after = words_of(getattr(previous, unit.section)[unit.name]), words_of(entry)
        if (before.heads, before.awaited, before.emitted) != (after.heads, after.awaited, after.emitted):
            return
        if _unit(edited, old, unit.section, unit.name, entry) != unit:
            return
    for query in (units_of, parts, _shared):
        query(previous)
        edited.queries.carry(previous.queries, (query,))


def _parts(units: Sequence[Unit]) -> tuple[tuple[Unit, ...], ...]:
    parent: dict[str, str] = {}
    for unit in units:
        first, *rest = sorted(unit.mentions) or [f"<{unit.section} {unit.name}>"]
        for other in rest:
            _join(parent, first, other)
    groups: dict[str, list[Unit]] = {}
    for unit in units:
        key = min(unit.mentions, default=f"<{unit.section} {unit.name}>")
        groups.setdefault(_root(parent, key), []).append(unit)
    return tuple(tuple(group) for group in groups.values())


def _root(parent: dict[str, str], name: str) -> str:
    while (above := parent.get(name, name)) != name:
        parent[name] = parent.get(above, above)
        name = above
    return name


def _join(parent: dict[str, str], one: str, other: str) -> None:
    a, b = _root(parent, one), _root(parent, other)
    if a != b:
        parent[b] = a


@cached
@unnoted()
def _shared(design: Design) -> Shared:
    """Returns what joins the entries of a design."""
    words = [words_of(entry) for _, _, entry in _all_entries(design)]
    declared = _declared(design).union(*(one.heads for one in words))
    awaited = frozenset(event for one in words for event in one.awaited)
    return Shared(declared, names.bare_names(design), awaited, _context(design, declared))


def _unit(design: Design, shared: Shared, section: str, name: str | int, entry: Any) -> Unit:
    words, bare, context = words_of(entry), shared.bare, shared.context
    mentions = {*(words.words & shared.declared), *words.heads}
    mentions.update(bare[word].split(".")[0] for word in words.words if word in bare)
    if words.awaited or words.emitted:
        mentions.update(f"<event {event}>" for event in (*words.awaited, *words.emitted) if event in shared.awaited)
    mentions.update(f"<event {word}>" for word in words.words & shared.awaited)
    mentions |= _own(section, name, design) | _memory(section, words, design) | _held(section, words, design)
    return Unit(section, name, _line(entry), frozenset(context.get(word, word) for word in mentions))


def _all_entries(design: Design) -> Iterator[tuple[str, str | int, Any]]:
    for section in SECTIONS:
        for name, entry in entries_of(design, section).items():
            yield section, name, entry


def entries_of(design: Design, section: str) -> Mapping[str | int, Any]:
    """Returns the entries of a section by name, of calls by number."""
    entries = getattr(design, section)
    return entries if isinstance(entries, dict) else dict(enumerate(entries))


def _own(section: str, name: str | int, design: Design) -> frozenset[str]:
    """Returns the names that an entry of a section stands for: its own, and those that all of its kind share."""
    shared = {str(name).partition(".")[0]} if section not in ("calls", "promises") else set()
    if section == "jobs":
        shared.add(JOBS)
    outside = section == "loops" and design.loops[str(name)].written.partition(".")[0] not in design.components
    if (outside or section in ("jobs", "placement")) and _capacities(design):
        shared.add(PLACES)  # what a loop writes outside the design may be how many nodes there are
    if section in ("calls", "promises") and _last_tries(design):
        shared.add(TRIES)
    return frozenset(shared)


def _memory(section: str, words: Words, design: Design) -> frozenset[str]:
    """Returns what an entry shares through memory: `sum of request.tokens` is about the workload `requests`."""
    if not _redoes(design):
        return frozenset()
    many = {f"{head}s" for head in words.heads if f"{head}s" in design.workload}
    shared = {"sum", "running", *STATES["in work"]} if section == "limits" else {"redone"}
    return frozenset(many | ({MEMORY} if shared & words.words else set()))


def _held(section: str, words: Words, design: Design) -> frozenset[str]:
    """Returns the resources that an entry needs or may offer: who needs one draws on whoever has it."""
    if section not in ("components", "jobs"):
        return frozenset()
    return frozenset(f"<resource {resource}>" for resource in words.words & _resources(design))


@cached
@unnoted()
def _resources(design: Design) -> frozenset[str]:
    """Returns what members of components and jobs need."""
    owners: list[Component | Job] = [*design.components.values(), *design.jobs.values()]
    return frozenset(name for owner in owners for name in needed(owner))


@cached
def _last_tries(design: Design) -> bool:
    """Returns whether a promise speaks of the last try of a call without saying of which."""
    ends = (promise.second for promise in design.promises.values())
    return any(end is not None and end.of == "last" and end.subject in ("try", "attempt") for end in ends)


@cached
def _redoes(design: Design) -> bool:
    """Returns whether some limit throws work away that is done again."""
    words = (limit.when_full.text for limit in design.limits.values() if limit.when_full is not None)
    return "evict and redo" in words


@cached
def _capacities(design: Design) -> bool:
    """Returns whether places have more than a number and labels, or jobs that wait for them."""
    items = (pair for place in design.places.values() for pair in place.items())
    plain = all(key == "count" or not isinstance(item, Quantity) for key, item in items)
    return bool(design.jobs) or design.order is not None or not plain


def _declared(design: Design) -> frozenset[str]:
    """Returns the names that join all units in which they occur as a word."""
    return names.things(design) - (frozenset() if _capacities(design) else frozenset(design.places))


def _context(design: Design, declared: frozenset[str]) -> Mapping[str, str]:
    """Returns, for each name that links, boundaries, orders and places tie together, the one that stands for all."""
    parent: dict[str, str] = {}
    infrastructure = design.infrastructure
    ties: list[list[str]] = []
    if infrastructure is not None:
        ties += [[end.text for end in link.ends] for link in infrastructure.links]
        ties += [[name, *(w.text for w in one.around)] for name, one in (infrastructure.boundaries or {}).items()]
        entries = (*(infrastructure.tiers or {}).items(), *(infrastructure.boundaries or {}).items())
        ties += [[name, *sorted(words_of(one).words & declared)] for name, one in entries]
    if design.order is not None:
        ties.append([JOBS, *sorted(words_of(design.order).words & declared)])
    if _capacities(design):
        ties.append([PLACES, *([JOBS] if design.jobs else []), *design.places])
        words = {word for one in design.places.values() for word in _texts(one)}
        ties.append([PLACES, *sorted(words & declared)])
        offered = {f"<resource {key}>" for place in design.places.values() for key in place}
        ties.append([PLACES, *sorted(offered)])
    for first, *rest in (tie for tie in ties if tie):
        for other in rest:
            _join(parent, first, other)
    return {name: _root(parent, name) for name in parent}


def _texts(items: Mapping[str, Any]) -> Iterator[str]:
    for item in items.values():
        yield from _WORDS.findall(getattr(item, "text", ""))


def _line(entry: Any) -> int:
    if isinstance(entry, tuple):
        return min((_line(one) for one in entry), default=0)
    place = getattr(entry, "place", None)
    return place.line if isinstance(place, Place) else 0


def words_of(entry: Any) -> Words:
    """Returns the words of an entry, cached where it is a record."""
    if isinstance(entry, Record):
        return entry.queries.get(words_of, lambda: _gathered(entry))
    return _gathered(entry)


@unnoted()
def _gathered(entry: Any) -> Words:
    words: set[str] = set()
    heads: set[str] = set()
    events: dict[bool, set[str]] = {True: set(), False: set()}  # made or awaited
    for key, item in _leaves("", entry):
        text = item if isinstance(item, str) else item.text
        words.update((*_WORDS.findall(text), " ".join(text.split())))
        heads.update(_BEFORE_A_DOT.findall(text))
        if isinstance(item, Event):
            events[key == "then"].add(_event(item))
        elif isinstance(item, Promise):
            events[False].update(_event(e) for e in (item.first, item.second) if e is not None)
    return Words(frozenset(words), frozenset(heads), frozenset(events[False]), frozenset(events[True]))


def _event(event: Event) -> str:
    """Returns the words of an event without those that tell which of its occurrences is meant."""
    text = event.text
    while (shorter := _AROUND_EVENTS.sub("", text)) != text:
        text = shorter
    return text


def _leaves(key: str, item: Any) -> Iterator[tuple[str, Any]]:
    """Yields every text, number, expression and event of an entry, with the key that it stands under."""
    if isinstance(item, Record):
        for name in item.fields:
            if name not in _NAMES_OF_MANY:
                yield from _leaves(name, getattr(item, name))
    elif isinstance(item, dict):
        for name, inner in item.items():
            yield key, name
            yield from _leaves(name, inner)
    elif isinstance(item, tuple | list):
        for inner in item:
            yield from _leaves(key, inner)
    elif isinstance(item, str) or isinstance(getattr(item, "text", None), str):
        yield key, item
    elif is_dataclass(item) and not isinstance(item, Place):  # a sentence without its text, as a link of a sensor
        for field in fields(item):
            yield from _leaves(key, getattr(item, field.name))


def part_of(design: Design, members: Sequence[Unit]) -> Design:
    """Returns the design with these units alone; what is no unit (places, infrastructure, prices) stays."""
    chosen: dict[str, list[str | int]] = {section: [] for section in SECTIONS}
    for unit in members:
        chosen[unit.section].append(unit.name)
    sections: dict[str, Any] = {}
    for section in SECTIONS:
        whole = getattr(design, section)
        sections[section] = _only(whole, chosen[section])
    keeps_order = design.order is not None and any(JOBS in unit.mentions or unit.section == "jobs" for unit in members)
    return design.replace(**sections, order=design.order if keeps_order else None)


def _only(whole: Any, chosen: Iterable[str | int]) -> Any:
    if isinstance(whole, dict):
        return {name: whole[name] for name in chosen}
    return tuple(whole[number] for number in chosen)
