"""Applies bounds on clocks to what the links of a design join: how far their delays leave two clocks apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.design import Design
from coherence.language.infrastructure import Link
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered


@dataclass(frozen=True)
class UncertainWay:
    """The way between two ends of links whose delays are uncertain by least, all its links together (s)."""

    uncertainty: Fraction
    links: int
    places: tuple[Place, ...]


def uncertain(link: Link) -> Fraction | None:
    """Returns how far the delay of a message over a link is uncertain; None: its latency is not a number."""
    latency = link.constants.get("latency")
    return latency.high - latency.low if isinstance(latency, Quantity) else None


def farthest(design: Design) -> Iterator[Application]:
    """Yields, of each part that links join, the two ends whose clocks may be furthest apart."""
    links = tuple(design.infrastructure.links) if design.infrastructure else ()
    ways = _ways(links)
    parts: dict[frozenset[str], tuple[str, str]] = {}
    for near, far in ways:
        part = frozenset((near, *(end for start, end in ways if start == near)))
        best = parts.setdefault(part, (near, far))
        if ways[near, far].uncertainty > ways[best].uncertainty:
            parts[part] = near, far
    for pair in parts.values():
        if ways[pair].uncertainty:
            yield _application(pair, ways[pair])


def _application(pair: tuple[str, str], way: UncertainWay) -> Application:
    gathered = Gathered(f"clocks of {' and '.join(pair)}")
    gathered.span("links", Fraction(way.links)).span("uncertainty", way.uncertainty / way.links)
    gathered.places += way.places
    return gathered.application()


def _ways(links: tuple[Link, ...]) -> dict[tuple[str, str], UncertainWay]:
    """Returns the least uncertain way between every two ends: a link whose latency is not known counts for nothing."""
    ways: dict[tuple[str, str], UncertainWay] = {}
    names = list(dict.fromkeys(end.text for link in links for end in link.ends))
    for link in links:
        latency, size = link.constants.get("latency"), uncertain(link) or Fraction(0)
        places = (latency.place.labelled("delay of a message"),) if isinstance(latency, Quantity) and size else ()
        for near, far in itertools.permutations(dict.fromkeys(end.text for end in link.ends), 2):
            _shorten(ways, (near, far), UncertainWay(size, 1, places))
    for middle, near, far in itertools.product(names, repeat=3):
        if near != far and (near, middle) in ways and (middle, far) in ways:
            first, then = ways[near, middle], ways[middle, far]
            total = first.uncertainty + then.uncertainty
            _shorten(ways, (near, far), UncertainWay(total, first.links + then.links, first.places + then.places))
    return ways


def _shorten(ways: dict[tuple[str, str], UncertainWay], pair: tuple[str, str], way: UncertainWay) -> None:
    if pair not in ways or way.uncertainty < ways[pair].uncertainty:
        ways[pair] = way
