"""Computes the rates at which first tries come by each route of a program, as if every try were answered.

They are what a reading shows at the beginning of a run, before anything was counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coherence.simulate.requests.program import Arrivals, Plan, PlanShare, Program, TimesInBlocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST = 60.0  # s of replayed arrivals, whose rate is that of their beginning


def first_tries(program: Program, rate_of: Callable[[Arrivals], float] | None = None) -> dict[str, float]:
    """Returns first tries a second by route: those of sources, and those that stations make for each try they serve.

    `rate_of`: how often requests of a source come, in place of how often they do at the beginning.
    """
    own = dict.fromkeys((route.name for route in program.routes), 0.0)
    for source in program.sources:
        rate = (rate_of or first_rate)(source.arrivals) * sum(source.turns) / 2
        for name, share in _shares(source.plan, source.cases):
            own[name] += rate * share
    rates = own
    for _ in program.stations:  # calls between stations have no circle
        served = dict.fromkeys((station.name for station in program.stations), 0.0)
        for route in program.routes:
            served[route.station] += rates[route.name]
        rates = dict(own)
        for each in program.stations:
            for name, share in _shares(each.plan, each.cases):
                rates[name] += served[each.name] * share
    return rates


def first_rate(arrivals: Arrivals) -> float:
    """Returns the rate at which requests come at the beginning of a run."""
    if arrivals.kind == "mmpp":
        return arrivals.states[0][0]
    if arrivals.kind != "trace":
        return arrivals.rate
    if isinstance(arrivals.times, TimesInBlocks):
        return _rate(next(arrivals.times.blocks(), np.empty(0)))
    return _rate(np.asarray(arrivals.times, np.float64))


def mean_rate(arrivals: Arrivals) -> float:
    """Returns the rate at which requests come on average, without bursts."""
    if arrivals.kind != "mmpp":
        return first_rate(arrivals)
    stays = sum(stay for _, stay in arrivals.states)
    return sum(rate * stay for rate, stay in arrivals.states) / stays


def _rate(times: NDArray[np.float64]) -> float:
    """Returns the rate of the first of these times."""
    span = min(FIRST, float(times[-1])) if len(times) else 0.0
    return float(np.count_nonzero((times > 0) & (times <= span))) / span if span else 0.0


def _shares(plan: Plan, cases: Sequence[PlanShare]) -> Iterator[tuple[str, float]]:
    """Yields each route that an owner uses, and how often."""
    total = sum(case.weight for case in cases)
    for routes, share in ((one.plan, one.weight / total) for one in cases) if cases else ((plan, 1.0),):
        yield from ((name, share) for stage in routes for name in stage)
