"""Names what the parts of a design leave out of the programs that they stand for, by policy and by place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.language import catalogue
from coherence.language.design import Call, Component, Design, Limit, Loop, Timer
from coherence.language.entries.leaves import values_of_entry
from coherence.language.schema_kinds import Word

_Entry = Call | Component | Limit | Loop | Timer
_Omissions = Mapping[str, tuple[str, ...]]


@cached
def omissions_of(design: Design) -> _Omissions:
    """Returns what the parts of each policy and component leave out, by name; nothing of what uses no part."""
    with unnoted():
        words: dict[str, tuple[str, ...]] = {}
        for section, entry, part in _parts(design):
            words[entry.name] = merged(words.get(entry.name, ()), catalogue.omissions(section, part))
        return words


@cached
def omissions_by_place(design: Design) -> Mapping[Place, tuple[str, ...]]:
    """Returns what the part of an entry leaves out, by the places without labels of its values and of its beginning."""
    with unnoted():
        words: dict[Place, tuple[str, ...]] = {}
        for section, entry, part in _parts(design):
            places = (value.place for value in values_of_entry(section, entry.name, entry))
            for place in {place.labelled("") for place in (entry.place, *places) if place is not None}:
                words[place] = merged(words.get(place, ()), catalogue.omissions(section, part))
        return words


def omissions_of_read(design: Design, read: Collection[Place]) -> tuple[str, ...]:
    """Returns what the parts leave out of whose entries more than `uses` was read, by the places that were."""
    with unnoted():
        words: tuple[str, ...] = ()
        for section, entry, part in _parts(design):
            values = values_of_entry(section, entry.name, entry)
            if any(value.key != "uses" and value.place in read for value in values):
                words = merged(words, catalogue.omissions(section, part))
        return words


def merged(words: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Returns words and others, each once."""
    return tuple(dict.fromkeys((*words, *others)))


def _parts(design: Design) -> Iterator[tuple[str, _Entry, str]]:
    """Yields the section, the entry and the part of whatever uses one."""
    sections: Mapping[str, Iterable[_Entry]] = {
        "loops": design.loops.values(),
        "calls": design.calls,
        "timers": design.timers.values(),
        "limits": design.limits.values(),
        "components": design.components.values(),
    }
    for section, entries in sections.items():
        for entry in entries:
            if isinstance(entry.part, Word):
                yield section, entry, entry.part.text
