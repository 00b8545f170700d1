"""Applies bounds on clocks to what the links of a design join: how far their delays leave two clocks apart.

The delay of a message over a link varies by the link's `jitter`; where only its `latency` is a range, the delay may
vary in all of it, or always be one value in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.design import Design
from coherence.language.infrastructure import Link
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered


@dataclass(frozen=True)
class UncertainWay:
    """The way between two ends of links whose delays are uncertain by least, all its links together (s).

    `sure`: so much of it is known to vary.
    """

    uncertainty: Fraction
    sure: Fraction
    links: int
    places: tuple[Place, ...]


def uncertain(link: Link) -> UncertainWay:
    """Returns the way over one link.  One of which nothing is known may have a delay that is always the same."""
    jitter, latency = link.constants.get("jitter"), link.constants.get("latency")
    if isinstance(jitter, Quantity):
        return UncertainWay(jitter.high, jitter.low, 1, (jitter.place.labelled("delay of a message"),))
    if isinstance(latency, Quantity) and not latency.exact:
        return UncertainWay(latency.high - latency.low, Fraction(0), 1, (latency.place.labelled("delay of a message"),))
    return UncertainWay(Fraction(0), Fraction(0), 1, ())


def farthest(design: Design) -> Iterator[Application]:
    """Yields, of each part that links join, the two ends whose clocks are surely furthest apart, or else may be."""
    links = tuple(design.infrastructure.links) if design.infrastructure else ()
    ways = _ways(links)
    parts: dict[frozenset[str], tuple[str, str]] = {}
    for near, far in ways:
        part = frozenset((near, *(end for start, end in ways if start == near)))
        best = parts.setdefault(part, (near, far))
        if _rank(ways[near, far]) > _rank(ways[best]):
            parts[part] = near, far
    for pair in parts.values():
        if ways[pair].uncertainty:
            yield _application(pair, ways[pair])


def _application(pair: tuple[str, str], way: UncertainWay) -> Application:
    gathered = Gathered(f"clocks of {' and '.join(pair)}")
    gathered.span("links", Fraction(way.links))
    gathered.span("uncertainty", way.sure / way.links, way.uncertainty / way.links)
    gathered.places += way.places
    return gathered.application()


def _ways(links: tuple[Link, ...]) -> dict[tuple[str, str], UncertainWay]:
    """Returns the least uncertain way between every two ends: a link whose latency is not known counts for nothing."""
    ways: dict[tuple[str, str], UncertainWay] = {}
    names = list(dict.fromkeys(end.text for link in links for end in link.ends))
    for link in links:
        for near, far in itertools.permutations(dict.fromkeys(end.text for end in link.ends), 2):
            _shorten(ways, (near, far), uncertain(link))
    for middle, near, far in itertools.product(names, repeat=3):
        if near != far and (near, middle) in ways and (middle, far) in ways:
            _shorten(ways, (near, far), _after(ways[near, middle], ways[middle, far]))
    return ways


def _rank(way: UncertainWay) -> tuple[Fraction, Fraction]:
    return way.sure, way.uncertainty


def _after(first: UncertainWay, then: UncertainWay) -> UncertainWay:
    uncertainty, sure = first.uncertainty + then.uncertainty, first.sure + then.sure
    return UncertainWay(uncertainty, sure, first.links + then.links, first.places + then.places)


def _shorten(ways: dict[tuple[str, str], UncertainWay], pair: tuple[str, str], way: UncertainWay) -> None:
    """Takes the least of both: what is surely uncertain and what may be need not be least on one way."""
    known = ways.get(pair, way)
    shorter = min(known, way, key=lambda each: each.uncertainty)
    ways[pair] = replace(shorter, sure=min(known.sure, way.sure))
