"""Finds which links calls and transfers go over, and how long these take at least.

A thing is at a link where it, or the tier that it runs on, is an end of one; a queue is where its servers are.  A route
is the one with the fewest links, or the one that `via` names the ends of; of several that are equally short none is
taken, and it is asked.  On a link of a route a transfer takes latency + size / bandwidth where it has all of one link.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.language.design import Call, Component, Design
from coherence.language.expressions import names as used
from coherence.language.infrastructure import Link
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.shared_rates import ComputedQuantity, boundaries_between

ZERO = Fraction(0)
LONGEST_ROUTE = 16  # links


@dataclass(frozen=True)
class Hop:
    """One link of a route, from one of its ends to another."""

    link: Link
    start: str
    end: str

    @property
    def name(self) -> str:
        """Returns the link and its direction: `pre - dec`."""
        return f"{self.start} - {self.end}"

    @property
    def shared_name(self) -> str:
        """Returns the link as what is busy: both directions of one that is half duplex are one."""
        half = self.link.duplex is not None and self.link.duplex.text == "half"
        return " - ".join(end.text for end in self.link.ends) if half else self.name


@dataclass(frozen=True)
class Transfer:
    """What a caller sends over links; `call`: None where a queue takes what another thing has served.

    `needs`: what stands between it and a route.
    """

    caller: str
    callee: str
    hops: tuple[Hop, ...]
    carries: Quantity | None
    place: Place
    call: Call | None = None
    needs: str = ""

    @property
    def name(self) -> str:
        return f"{self.caller} -> {self.callee}"

    @property
    def least(self) -> Fraction:
        """Returns how long it is under way at least (s)."""
        return sum((_over(hop.link, self.carries, high=False) for hop in self.hops), ZERO)

    @property
    def alone(self) -> Fraction:
        """Returns how long it is under way at most where nothing else is on its links (s)."""
        return sum((_over(hop.link, self.carries, high=True) for hop in self.hops), ZERO)


def _over(link: Link, size: Quantity | None, *, high: bool) -> Fraction:
    latency, rate = link.constants.get("latency"), link.constants.get("bandwidth")
    time = _end(latency, high=high) if isinstance(latency, Quantity) else ZERO
    if size is not None and isinstance(rate, Quantity) and rate.low > 0:
        time += _end(size, high=high) / _end(rate, high=not high)
    return time


def _end(value: Quantity, *, high: bool) -> Fraction:
    return value.high if high else value.low


@cached
def transfers(design: Design) -> tuple[Transfer, ...]:
    """Returns what goes over links: calls, and what queues take from each other."""
    return tuple(_transfers(design)) if _links(design) else ()


def _transfers(design: Design) -> Iterator[Transfer]:
    for call in design.calls:
        if call.caller is not None and call.callee is not None and call.place is not None:
            ends = call.caller.text, call.callee.text
            yield from _transfer(design, *ends, call.carries, call.via, call.place, call)
    for component in design.components.values():
        for source in dict.fromkeys(_sources(design, component)):
            yield from _transfer(design, source, component.name, component.carries, component.via, component.place)


def _sources(design: Design, component: Component) -> Iterator[str]:
    """Yields the components whose outputs arrive at a component."""
    arrivals = component.constants.get("arrivals")
    for path in used(arrivals.tree) if isinstance(arrivals, Formula) else ():
        thing = path.partition(".")[0]
        if thing in design.components and thing != component.name:
            yield thing


def _transfer(
    design: Design, caller: str, callee: str, size: Quantity | None, via: Sequence[Word], place: Place,
    call: Call | None = None,
) -> Iterator[Transfer]:  # fmt: skip
    start, end = node_of(design, caller), node_of(design, callee)
    if start is None or end is None:
        near, far = (node or _tier_of(design, thing) for node, thing in ((start, caller), (end, callee)))
        if size is not None and near and far and near != far:
            yield Transfer(caller, callee, (), size, place, call, _no_way(near, far))
        return
    if start == end:
        return
    stops = [start, *(word.text for word in via), end]
    hops: list[Hop] = []
    for begin, target in itertools.pairwise(stops):
        routes = _shortest(design, begin, target)
        if len(routes) != 1:
            ways = " and ".join(" - ".join([begin, *(hop.end for hop in way)]) for way in routes[:2])
            needs = f"needs `via` of {caller} -> {callee}: {ways} are equally long" if routes else ""
            yield Transfer(caller, callee, (), size, place, call, needs or _no_way(begin, target))
            return
        hops += routes[0]
    yield Transfer(caller, callee, tuple(hops), size, place, call)


def _no_way(start: str, end: str) -> str:
    return f"needs a link on the way from {start} to {end}: no path of links leads there"


def node_of(design: Design, thing: str) -> str | None:
    """Returns the end of links at which a thing is; None where it is at none."""
    ends = {end.text for link in _links(design) for end in link.ends}
    host = _own_tier(design, thing)
    if thing in ends or host in ends:
        return thing if thing in ends else host
    pool = _served_by(design, thing)
    return node_of(design, pool) if pool else None


def _own_tier(design: Design, thing: str) -> str:
    component = design.components.get(thing)
    return component.runs_on.text if component is not None and component.runs_on is not None else ""


def _served_by(design: Design, thing: str) -> str:
    """Returns the pool that serves a queue; nothing where it is none."""
    component = design.components.get(thing)
    served = component.constants.get("served_by") if component is not None else None
    pool = str(served) if served is not None else ""
    return pool if pool in design.components and pool != thing else ""


def _tier_of(design: Design, thing: str) -> str:
    """Returns the tier on which a thing or what serves it runs; nothing where the design does not say."""
    return _own_tier(design, thing) or _own_tier(design, _served_by(design, thing))


def _links(design: Design) -> tuple[Link, ...]:
    return design.infrastructure.links if design.infrastructure is not None else ()


def _shortest(design: Design, start: str, end: str) -> list[tuple[Hop, ...]]:
    """Returns all routes with the fewest links."""
    ways: list[tuple[Hop, ...]] = [()]
    for _ in range(LONGEST_ROUTE):
        ways = [(*way, hop) for way in ways for hop in _next(design, way[-1].end if way else start, way)]
        arrived = [way for way in ways if way[-1].end == end]
        if arrived or not ways:
            return arrived
    return []


def _next(design: Design, at: str, way: Sequence[Hop]) -> Iterator[Hop]:
    seen = {at, *(hop.start for hop in way)}
    for link in _links(design):
        ends = [end.text for end in link.ends]
        if at in ends:
            yield from (Hop(link, at, end) for end in ends if end not in seen)


@unnoted()
def with_transit(design: Design, callee: str, own: Quantity) -> Quantity:
    """Returns the time of an answer with what calls are under way, where that is the same for all callers.

    At most it is that of a call which has its links alone; what may wait for a link is not read here, so that nothing
    is proved of it.
    """
    callers = [call for call in design.calls if call.callee is not None and call.callee.text == callee]
    ways = {transit(design, call) for call in callers}
    if len(ways) != 1:
        return own
    least, alone, also = next(iter(ways))
    if not alone:
        return own
    text = f"{own.text} and {float(alone):g} s on the way"
    return ComputedQuantity(own.low + least, own.high + alone, own.dimension, text, own.place, own.varies, also)


def transit(design: Design, call: Call) -> tuple[Fraction, Fraction, tuple[Place, ...]]:
    """Returns how long a call is under way, at least and alone on its links (s), with the places that say so."""
    least, alone, also = ZERO, ZERO, list[Place]()
    caller, callee = (end.text if end is not None else "" for end in (call.caller, call.callee))
    if caller not in design.components:
        return least, alone, ()
    for boundary in boundaries_between(design, caller, callee):
        if boundary.call_delay is not None:
            least, alone = least + boundary.call_delay.low, alone + boundary.call_delay.high
            also.append(boundary.call_delay.place)
    for transfer in (transfer for transfer in transfers(design) if transfer.call is call):
        least, alone = least + transfer.least, alone + transfer.alone
        stated = (hop.link.constants.get("latency") for hop in transfer.hops)
        also += [latency.place for latency in stated if isinstance(latency, Quantity)]
    return least, alone, tuple(also)
