"""Applies bounds on clocks and on copies of a register to what the links of a design join, by their delays.

The delay of a message over a link varies by the link's `jitter`; where only its `latency` is a range, the delay may
vary in all of it, or always be one value in it.  The longest delay is the `latency` at least, and has the `jitter` too
at most.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.design import Design
from coherence.language.infrastructure import Link
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered


@dataclass(frozen=True)
class MeasuredWay:
    """The way between two ends of links on which a delay, or what is uncertain of it, is least (s), all links together.

    `sure`: so much of it there surely is.
    """

    most: Fraction
    sure: Fraction
    links: int
    places: tuple[Place, ...]


def uncertain(link: Link) -> MeasuredWay:
    """Returns the way over one link.  One of which nothing is known may have a delay that is always the same."""
    jitter, latency = link.constants.get("jitter"), link.constants.get("latency")
    if isinstance(jitter, Quantity):
        return MeasuredWay(jitter.high, jitter.low, 1, (jitter.place.labelled("delay of a message"),))
    if isinstance(latency, Quantity) and not latency.exact:
        return MeasuredWay(latency.high - latency.low, Fraction(0), 1, (latency.place.labelled("delay of a message"),))
    return MeasuredWay(Fraction(0), Fraction(0), 1, ())


def delayed(link: Link) -> MeasuredWay:
    """Returns the way over one link by the longest delay of a message; none is known where no latency is stated."""
    jitter, latency = link.constants.get("jitter"), link.constants.get("latency")
    if not isinstance(latency, Quantity):
        return MeasuredWay(Fraction(0), Fraction(0), 1, ())
    more = jitter.high if isinstance(jitter, Quantity) else Fraction(0)
    return MeasuredWay(latency.high + more, latency.low, 1, (latency.place.labelled("delay of a message"),))


def farthest(design: Design) -> Iterator[Application]:
    """Yields, of each part that links join, the two ends whose clocks are surely furthest apart, or else may be."""
    for pair, way in _far_ends(design, uncertain):
        gathered = Gathered(f"clocks of {' and '.join(pair)}").span("links", Fraction(way.links))
        yield _placed(gathered.span("uncertainty", way.sure / way.links, way.most / way.links), way)


def registers(design: Design) -> Iterator[Application]:
    """Yields, of each part that links join, a register used at the two ends with the most uncertain way."""
    for pair, way in _far_ends(design, uncertain):
        yield _placed(Gathered(f"a register used at {' and '.join(pair)}").span("uncertainty", way.sure, way.most), way)


def replicas(design: Design) -> Iterator[Application]:
    """Yields, of each part that links join, a register with copies at the two ends with the longest way."""
    for pair, way in _far_ends(design, delayed):
        yield _placed(Gathered(f"copies at {' and '.join(pair)}").span("delay", way.sure, way.most), way)


def _far_ends(design: Design, measured: Callable[[Link], MeasuredWay]) -> Iterator[tuple[tuple[str, str], MeasuredWay]]:
    """Yields, of each part that links join, the two ends that are surely furthest apart, or else may be."""
    ways = _ways(tuple(design.infrastructure.links) if design.infrastructure else (), measured)
    parts: dict[frozenset[str], tuple[str, str]] = {}
    for near, far in ways:
        part = frozenset((near, *(end for start, end in ways if start == near)))
        best = parts.setdefault(part, (near, far))
        if _rank(ways[near, far]) > _rank(ways[best]):
            parts[part] = near, far
    for pair in parts.values():
        if ways[pair].most:
            yield pair, ways[pair]


def _placed(gathered: Gathered, way: MeasuredWay) -> Application:
    gathered.places += way.places
    return gathered.application()


def _ways(links: tuple[Link, ...], measured: Callable[[Link], MeasuredWay]) -> dict[tuple[str, str], MeasuredWay]:
    """Returns the least way between every two ends: a link of which nothing is known counts for nothing."""
    ways: dict[tuple[str, str], MeasuredWay] = {}
    names = list(dict.fromkeys(end.text for link in links for end in link.ends))
    for link in links:
        for near, far in itertools.permutations(dict.fromkeys(end.text for end in link.ends), 2):
            _shorten(ways, (near, far), measured(link))
    for middle, near, far in itertools.product(names, repeat=3):
        if near != far and (near, middle) in ways and (middle, far) in ways:
            _shorten(ways, (near, far), _after(ways[near, middle], ways[middle, far]))
    return ways


def _rank(way: MeasuredWay) -> tuple[Fraction, Fraction]:
    return way.sure, way.most


def _after(first: MeasuredWay, then: MeasuredWay) -> MeasuredWay:
    return MeasuredWay(
        first.most + then.most, first.sure + then.sure, first.links + then.links, first.places + then.places
    )


def _shorten(ways: dict[tuple[str, str], MeasuredWay], pair: tuple[str, str], way: MeasuredWay) -> None:
    """Takes the least of both: what is surely uncertain and what may be need not be least on one way."""
    known = ways.get(pair, way)
    shorter = min(known, way, key=lambda each: each.most)
    ways[pair] = replace(shorter, sure=min(known.sure, way.sure))
