"""Decides from runs that were started alike whether they settle, from when on, and for how long they remember.

A station that is busy for a share rho of its time forgets its state in a time of
tau = 2 rho m (ca^2 + cs^2) / (c (1 - rho)^2) + m, the relaxation time of its queue (m: mean service, c: servers, ca and
cs: coefficients of variation of the times between arrivals and of services). What runs say of that is much less a
matter of chance than the correlation of their latencies, by which short runs that happen to be calm would pass for long
ones.
The start-up is three of these times, and more where a test finds that what is left begins otherwise than it goes on.
SOURCE: Abate, Whitt, Transient behavior of the M/M/1 queue (1988), section 2; Heidelberger, Welch, Simulation run
length control in the presence of an initial transient (1983).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coherence.simulate.requests.program import Program, Source, Station
from coherence.simulate.requests.service_means import mean_of, variation_of
from coherence.simulate.study.latencies import Latencies
from coherence.simulate.study.pooled_intervals import BATCHES, variance_of_sum

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import RequestResult

Array = NDArray[Any]
FORGOTTEN = 3.0  # relaxation times after which an empty start is forgotten
CUTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)  # shares of a run that a test may leave out
SURE = 0.01  # error of the test


@dataclass(frozen=True)
class StationLoad:
    """Server-seconds that a station was busy and had, the time (s), and the most that were there at once."""

    busy: float
    had: float
    time: float
    most: int


def loads_of(result: RequestResult) -> dict[str, StationLoad]:
    """Returns the load of each station in a run."""
    series, time, loads = result.series, result.end - result.start, {}
    for station in result.program.stations:
        servers, present = series[f"{station.name}.servers"], series[f"{station.name}.present"]
        if len(servers) and time > 0:
            busy = result.work[f"{station.name}.busy_seconds"]
            loads[station.name] = StationLoad(busy, float(servers.mean()) * time, time, int(present.max()))
    return loads


def is_scheduled(program: Program) -> bool:
    """Returns whether something happens at stated times, so that a run is a story and no steady state."""
    return bool(program.outages) or any(map(moves, program.sources))


def moves(source: Source) -> bool:
    """Returns whether a source sends more, or what it sends, at stated times."""
    return bool(source.arrivals.bursts) or (source.arrivals.kind == "trace" and not source.again)


def relaxation(program: Program, runs: Sequence[Mapping[str, StationLoad]]) -> float:
    """Returns the longest relaxation time of all stations (s), from the loads that the runs saw."""
    arrivals = max((s.arrivals.cv**2 for s in program.sources if s.arrivals.kind == "gamma"), default=1.0)
    return max((_relaxation(station, max(1.0, arrivals), runs) for station in program.stations), default=0.0)


def _relaxation(station: Station, arrivals: float, runs: Sequence[Mapping[str, StationLoad]]) -> float:
    loads = [run[station.name] for run in runs if station.name in run]
    had = sum(load.had for load in loads)
    services = (station.service, *station.by_source.values())
    scale = max(mean_of(service) * (arrivals + variation_of(service)) for service in services)
    if not had or not scale:
        return 0.0
    rho, servers = sum(load.busy for load in loads) / had, had / sum(load.time for load in loads)
    bounded = scale * (2 * max(load.most for load in loads) / math.pi) ** 2 / servers  # of a queue that goes no higher
    free = 2 * rho * scale / (servers * (1 - rho) ** 2) if rho < 1 else math.inf
    return min(free, bounded) + max(map(mean_of, services))


def settles_after(runs: Sequence[Latencies]) -> float | None:
    """Returns the share of the runs after which latencies and answers show no trend; None where none of CUTS is enough.

    The first quarter of what is left is laid beside its second half, batch by batch.
    """
    return next((share for share in CUTS if not _moves(runs, share)), None)


def _moves(runs: Sequence[Latencies], share: float) -> bool:
    """Returns whether the mean latency, or the share that is answered, begins otherwise than it goes on."""
    cuts = [slice(int(share * len(run.sums)), None) for run in runs]
    latencies = [(run.sums[cut], run.counts[cut].sum(axis=1)) for run, cut in zip(runs, cuts, strict=True)]
    answers = [
        (counts.astype(float), run.arrived[cut]) for run, cut, (_, counts) in zip(runs, cuts, latencies, strict=True)
    ]
    return _differs(latencies) or _differs(answers)


def _differs(runs: Sequence[tuple[Array, Array]]) -> bool:
    from scipy.special import stdtrit

    above, below = (np.stack([_batched(run[part]) for run in runs]) for part in (0, 1))
    first, last = slice(0, BATCHES // 4), slice(BATCHES // 2, BATCHES)
    if not below[:, first].sum() or not below[:, last].sum():
        return False
    means = [above[:, part].sum() / below[:, part].sum() for part in (first, last)]
    errors = [
        variance_of_sum(above[:, part] - mean * below[:, part]) / below[:, part].sum() ** 2
        for part, mean in zip((first, last), means, strict=True)
    ]
    freedom = below[:, first].size - 1
    apart = abs(means[0] - means[1])
    return bool(apart > float(stdtrit(freedom, 1 - SURE / 2)) * math.sqrt(sum(errors)) + 1e-9 * abs(means[1]))


def _batched(values: Array) -> Array:
    size = len(values) // BATCHES
    batched: Array = values[len(values) - size * BATCHES :].reshape(BATCHES, size).sum(axis=1)
    return batched
