"""Predicts the tail of each hop of a design, by the laws of its services, and how far it moves in another design.

Requests come at random (Poisson) and as often as first tries do.  A request waits with Erlang's probability C, and then
for an exponential time of rate 2 (capacity - load) / (1 + cv^2): exact for exponential services, the approximation of
Allen and Cunneen for others.  P(wait + service > t) = P(S > t) + C E[exp(-decay (t - S)); S <= t].

SOURCE: A. K. Erlang 1917; A. O. Allen, "Probability, Statistics, and Queueing Theory", 1990, section 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.base.errors import InputError
from coherence.base.queueing import erlang_c

if TYPE_CHECKING:
    from coherence.language.design import Design
    from coherence.simulate.requests.program import Program, Station

LATE = 0.01  # of requests: P99
SERVICES = 20_000  # times of a service that stand for its law
HALVINGS = 60


@dataclass(frozen=True)
class HopTail:
    """A hop at its offered load (of 1): the time (s) that one in a hundred outlasts; infinite from a load of 1 on."""

    load: float
    p99: float


@dataclass(frozen=True)
class TailChange:
    """The tails of a hop in two designs; None where it is not in one."""

    hop: str
    before: HopTail | None
    after: HopTail | None

    @property
    def ratio(self) -> float:
        """Returns how many times as long the later one is; not a number where one is infinite or lacking."""
        if self.before is None or self.after is None or not math.isfinite(self.before.p99 + self.after.p99):
            return math.nan
        return self.after.p99 / self.before.p99 if self.before.p99 else math.nan


def tail_changes(before: Design, after: Design) -> tuple[TailChange, ...]:
    """Returns each hop whose tail differs, in the order of the first design."""
    old, new = hop_tails(before), hop_tails(after)
    rows = (TailChange(hop, old.get(hop), new.get(hop)) for hop in dict.fromkeys((*old, *new)))
    return tuple(row for row in rows if row.before != row.after)


def hop_tails(design: Design) -> Mapping[str, HopTail]:
    """Returns the tail of each station that serves requests in their order; none where the design does not say how."""
    from coherence.simulate.processes import has_requests, processes

    try:
        return dict(_tails(processes(design).program)) if has_requests(design) else {}
    except InputError:
        return {}


def _tails(program: Program) -> Iterator[tuple[str, HopTail]]:
    from coherence.simulate.requests.first_tries import first_tries, mean_rate

    rates = first_tries(program, mean_rate)
    for station in program.stations:
        rate = sum(rates[route.name] for route in program.routes if route.station == station.name)
        plain = station.batch is None and station.discipline == "fifo" and _alike(program, station)
        if plain and rate > 0 and station.servers > 0:
            yield station.name, tail_of(station, rate)


def _alike(program: Program, station: Station) -> bool:
    """Returns whether all that comes to a station takes alike, and none of it waits for what came before."""
    again = {source.name for source in program.sources if source.again}
    return again.isdisjoint(station.by_source) and {*station.by_source.values()} <= {station.service}


def tail_of(station: Station, rate: float) -> HopTail:
    """Returns the tail of a station to which so many requests come a second."""
    import numpy as np

    from coherence.exploring.service_quantiles import service_times
    from coherence.simulate.requests.service_means import mean_of, variation_of

    mean, squared = mean_of(station.service), variation_of(station.service)
    load = rate * mean / station.servers
    if load >= 1:
        return HopTail(load, math.inf)
    times = service_times(station.service, SERVICES)
    waits = erlang_c(station.servers, rate * mean) if mean else 0.0
    decay = 2 * (station.servers / mean - rate) / (1 + squared) if mean else math.inf

    def late(time: float) -> float:
        spare = time - times
        return float(np.where(spare < 0, 1.0, waits * np.exp(-decay * np.maximum(spare, 0.0))).mean())

    low, high = 0.0, float(times[-1]) + mean
    while late(high) > LATE:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if late(middle) > LATE else (low, middle)
    return HopTail(load, high)
