"""Moves caches of prompts over the links between two inference servers: one by one, or all at once in equal parts.

A move takes size / bandwidth of each link on its way, alone there, and then the latency.  Of `fair` links all moves
that are under way get the same part, each at most one link of those alike (max-min shares).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.model.routes import Hop, Transfer, transfers
from coherence.simulate.processes.numbers import lower

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CacheLink:
    """One way of a link: how long a move takes that has it alone, how many are alike, and how they are shared."""

    name: str
    seconds: float
    latency: float
    count: int
    fair: bool

    def moved(self, ready: Floats) -> Floats:
        """Returns when each of several moves ends that begin in order."""
        if self.fair:
            return shared(ready, self.seconds, self.count) + self.latency
        return in_order(ready, self.seconds, self.count) + self.latency


def cache_links(design: Design, upstream: Sequence[str], callee: str, notes: list[str]) -> tuple[CacheLink, ...]:
    """Returns the links on the way of caches to a server; none where no link leads there, or ways are not one."""
    ways = [own for own in transfers(design) if own.callee == callee and own.caller in upstream]
    notes += [f"caches of {callee} pass no link: {own.needs}" for own in ways if own.needs]
    routes = {(own.hops, own.carries) for own in ways}
    if len(routes) != 1:
        notes += [f"caches of {callee} pass no link: they come by several ways"] if routes else []
        return ()
    return tuple(_links(ways[0], notes))


def _links(way: Transfer, notes: list[str]) -> Iterator[CacheLink]:
    for hop in way.hops:
        latency = hop.link.constants.get("latency")
        waits = lower(latency, f"latency of {hop.name}", notes) if isinstance(latency, Quantity) else 0.0
        count = int(lower(hop.link.count, f"count of {hop.name}", notes)) if hop.link.count is not None else 1
        fair = hop.link.shares is not None and hop.link.shares.text == "fair"
        yield CacheLink(hop.name, _alone(way, hop, notes), waits, max(count, 1), fair)


def _alone(way: Transfer, hop: Hop, notes: list[str]) -> float:
    """Returns how long a move takes that has a link alone; 0 where its size or the bandwidth is not stated."""
    rate = hop.link.constants.get("bandwidth")
    if isinstance(rate, Quantity) and rate.low > 0 and way.carries is not None:
        return lower(way.carries, f"carries of {way.name}", notes) / lower(rate, f"bandwidth of {hop.name}", notes)
    notes.append(f"{way.name} takes no time on {hop.name} but its latency: `carries` or `bandwidth` is not stated")
    return 0.0


def in_order(ready: Floats, seconds: float, count: int) -> Floats:
    """Returns when moves of one length end, each on the first of `count` links that is free."""
    ends = np.empty(len(ready))
    for first in range(min(count, len(ready))):  # of moves alike every count-th takes the same link
        own = ready[first::count]
        done = seconds * np.arange(1, len(own) + 1)
        ends[first::count] = np.maximum.accumulate(own - (done - seconds)) + done
    return ends


def shared(ready: Floats, seconds: float, count: int) -> Floats:
    """Returns when moves of one length end that share `count` links evenly, each at most one of them."""
    ends, work, now = np.empty(len(ready)), 0.0, 0.0
    under_way: list[tuple[float, int]] = []  # (work at which it ends, move)

    def pass_until(time: float) -> None:
        nonlocal work, now
        while under_way:
            pace = min(1.0, count / len(under_way))
            over = now + max(under_way[0][0] - work, 0.0) / pace
            if over > time:
                work += (time - now) * pace
                break
            work, now = max(under_way[0][0], work), over
            ends[heapq.heappop(under_way)[1]] = now
        now = time

    for move, time in enumerate(ready):
        pass_until(float(time))
        heapq.heappush(under_way, (work + seconds, move))
    pass_until(float("inf"))
    return ends
