"""Names what a later design has more of than an earlier one: devices, links, room, copies that stand on no tier.

What runs on a tier is bounded by the tier, so its copies are no infrastructure of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coherence.language.components import Component
from coherence.language.design import Design
from coherence.language.infrastructure import Link
from coherence.language.schema_kinds import Formula, Quantity

NONE_ADDED = "no more devices, links, room on nodes or copies than before"


def added_infrastructure(before: Design, after: Design) -> tuple[str, ...]:
    """Returns, in words, what the later design has more of, and whose number is open; nothing where it has no more."""
    return (*_tiers(before, after), *_links(before, after), *_places(before, after), *_copies(before, after),
            *_scaled(before, after))  # fmt: skip


def _tiers(before: Design, after: Design) -> Iterator[str]:
    for name, tier in after.tiers.items():
        yield from _more(name, before.tiers[name].count if name in before.tiers else None, tier.count, "devices")


def _links(before: Design, after: Design) -> Iterator[str]:
    stood = {_ends(link): link for link in before.infrastructure.links} if before.infrastructure else {}
    for link in after.infrastructure.links if after.infrastructure else ():
        earlier = stood.get(_ends(link))
        if earlier is None:
            yield f"{_ends(link)}: a link that was not there"
        elif _kind(earlier) != _kind(link):
            yield f"{_ends(link)}: {_kind(earlier)} -> {_kind(link)}"


def _ends(link: Link) -> str:
    return " - ".join(end.text for end in link.ends)


def _kind(link: Link) -> str:
    """Returns the part of a link with its own values, and how many there are."""
    own = [f"{name} {value}" for name, value in sorted(link.constants.items())]
    part, count = link.part.text if link.part else "", f"count {link.count}" if link.count else ""
    return " ".join(filter(None, (part, count, *own)))


def _places(before: Design, after: Design) -> Iterator[str]:
    for name, place in after.places.items():
        stood: Mapping[str, Any] = before.places.get(name, {})
        for key, value in place.items():
            if isinstance(value, Quantity):
                yield from _more(name, stood.get(key), value, key)


def _copies(before: Design, after: Design) -> Iterator[str]:
    for name, component in after.components.items():
        if component.runs_on is None:
            stood = before.components.get(name)
            yield from _more(name, _number(stood), _number(component), "copies")


def _number(component: Component | None) -> Quantity | Formula | None:
    return None if component is None else component.copies if component.copies is not None else component.count


def _scaled(before: Design, after: Design) -> Iterator[str]:
    """Yields loops that may give a thing on no tier more than before."""
    for name, loop in after.loops.items():
        if loop.actuation is None or loop.actuation.signal is None or len(loop.actuation.bounds) != 2:
            continue
        thing = after.components.get(loop.actuation.signal.text.split(".")[0])
        stood = before.loops.get(name)
        if thing is None or thing.runs_on is not None or stood is None or stood.actuation is None:
            continue
        if len(stood.actuation.bounds) == 2:
            yield from _more(
                f"{thing.name} (by {name})", stood.actuation.bounds[1], loop.actuation.bounds[1], "at most"
            )


def _more(name: str, before: object, after: object, what: str) -> Iterator[str]:
    if after is None:
        return
    if not isinstance(after, Quantity) or not isinstance(before, Quantity | None):
        if str(before) != str(after):
            yield f"{name}: {what} are an expression, which is not compared"
    elif before is None:
        yield f"{name}: {after.text} {what}, which stood nowhere"
    elif before.high < after.high:
        yield f"{name}: {before.text} -> {after.text} {what}"
