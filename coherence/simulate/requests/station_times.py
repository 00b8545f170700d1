"""Reads from the trace of a run when each finished request left each station, and how long it held servers.

A request leaves a station when its last call of the next station begins, so what earlier tries spent there counts with
the station; the time before the last try of the first call is a layer of its own, where that is tried again.
The need of a request is split between stations in proportion to their mean services (a trace does not tell it).

How long a request held servers, by all its tries: a server is held while it works, while it waits for what it has
called, and while its station stands still; of a batch each request holds its part.  What goes on for nobody after a
request has ended is held for it, and what is still held when the run ends is held until then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.simulate.requests.program import Plan, Program, Source, Station
from coherence.simulate.requests.service_means import mean_of

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import Array, RequestResult, RequestTrace

EARLIER = "earlier tries"


@dataclass(frozen=True)
class Stamp:
    """A layer of a chain of calls: when each finished request left it (s; NaN: never), its share of every need."""

    name: str
    left: Array
    share: float


def stamps(result: RequestResult) -> tuple[Stamp, ...]:
    """Returns the layers of a run in the order in which they are passed.

    None where no trace was kept or where requests do not all pass the same stations one after another.
    """
    import numpy as np

    chains = tuple(_chain(result.program, source.plan, ()) for source in result.program.sources)
    names = {tuple(_station(result.program, route) for route in chain or ()) for chain in chains}
    if result.trace is None or len(names) != 1 or not (path := next(iter(names))):
        return ()
    owners: tuple[Source | Station, ...] = (*result.program.sources, *result.program.stations)
    if any(owner.cases for owner in owners):
        return ()
    if len(set(path)) < len(path) or any(source.turns != (1, 1) for source in result.program.sources):
        return ()
    depth = {route: place for chain in chains for place, route in enumerate(chain or ())}
    begun = _begun(result.trace, np.array([depth.get(route.name, -1) for route in result.program.routes]), len(path))
    rows = _rows(result, result.trace)
    ends = np.where(result.requests.completed, result.requests.end, np.nan)
    left = [*(one[rows] for one in begun), ends]
    means = {station.name: mean_of(station.service) for station in result.program.stations}
    total = sum(means[name] for name in path) or 1.0
    layers = [Stamp(name, left[place + 1], means[name] / total) for place, name in enumerate(path)]
    again = any(route.tries > 1 for route in result.program.routes if depth.get(route.name) == 0)
    return (Stamp(EARLIER, left[0], 0.0), *layers) if again else tuple(layers)


def _chain(program: Program, plan: Plan, above: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns the routes of a plan and of the stations behind them, in order.

    None at a fork, a fallback, a batch or a circle.
    """
    routes: list[str] = []
    replaced = {route.name for route in program.routes if route.fallback}
    for stage in plan:
        station = next(station for station in program.stations if station.name == _station(program, stage[0]))
        behind = None if station.name in above else _chain(program, station.plan, (*above, station.name))
        if len(stage) > 1 or stage[0] in replaced or station.batch is not None or behind is None:
            return None
        routes += [stage[0], *behind]
    return tuple(routes)


def _station(program: Program, route: str) -> str:
    return next(one.station for one in program.routes if one.name == route)


def _begun(trace: RequestTrace, depth: Array, length: int) -> Iterator[Array]:
    """For each place of the chain when each request last called it; at the first place when it was last tried.

    Calls that an abandoned try makes after the request has ended do not count.
    """
    import numpy as np

    from coherence.simulate.requests.engine import ACTIONS

    count = int(trace.request.max()) + 1 if len(trace.request) else 0
    end = np.full(count, -np.inf)
    ended = trace.action == ACTIONS.index("ended")
    end[trace.request[ended]] = trace.time[ended]
    sent = np.flatnonzero((trace.action == ACTIONS.index("sent")) & (trace.time <= end[trace.request]))
    place = depth[trace.which[sent]]
    before = np.full(count, -np.inf)
    for number in range(length):
        mine = sent[(place == number) & ((trace.number[sent] == 1) | (number == 0))]
        mine = mine[trace.time[mine] >= before[trace.request[mine]]]
        last = np.full(count, np.nan)
        np.fmax.at(last, trace.request[mine], trace.time[mine])
        yield last
        before = np.where(np.isnan(last), np.inf, last)


def _rows(result: RequestResult, trace: RequestTrace) -> Array:
    """Returns the numbers of the finished requests in the trace: both stand in the order of their ends."""
    import numpy as np

    from coherence.simulate.requests.engine import ACTIONS

    numbers: Array = trace.request[trace.action == ACTIONS.index("ended")]
    if len(numbers) > len(result.requests.end):  # those that began while the run warmed up are not in the records
        sent = trace.action == ACTIONS.index("sent")
        first = np.full(int(trace.request.max()) + 1, np.inf)
        np.fmin.at(first, trace.request[sent], trace.time[sent])
        numbers = numbers[first[numbers] >= result.start]
    return numbers


def held_times(result: RequestResult) -> Array | None:
    """Returns the server-seconds of each finished request.

    None where no trace was kept, or where a station gives all that it serves a share of its servers.
    """
    import numpy as np

    trace = result.trace
    if trace is None or any(station.discipline == "fair" for station in result.program.stations):
        return None
    held = held_by_number(trace, result.end)[_rows(result, trace)]
    return np.asarray(np.maximum(held, result.requests.need))  # no less, but for rounding


def held_by_number(trace: RequestTrace, end: float) -> Array:
    """Returns the server-seconds that each request of a trace held until `end` (s), those in flight too."""
    import numpy as np

    from coherence.simulate.requests.engine import ACTIONS

    held: Array = np.zeros(int(trace.request.max(initial=-1)) + 1)
    for action, sign in (("taken", -1.0), ("freed", 1.0)):
        lines = trace.action == ACTIONS.index(action)
        held += np.bincount(
            trace.request[lines], sign / trace.number[lines] * (trace.time[lines] - end), len(held)
        )  # fmt: skip
    return held
