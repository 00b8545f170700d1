"""Analyses the metastability of a retrying call: operating points, edge, way back, safe region.

Three readings of one call stand side by side: the load map (mean field) says which operating points exist, the fluid
what a disturbance does, the Markov chain how soon noise alone crosses.  The request-level engine is their referee.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from coherence.base.bisection import halved, whole_mean
from coherence.base.errors import UsageError
from coherence.simulate.metastability.fluid import ShortestTrigger, smallest_pause
from coherence.simulate.metastability.load_map import Portrait, PortraitVerdict, Retrying, overload, portrait
from coherence.simulate.requests.program import (
    Arrivals,
    Outage,
    Program,
    RetryBudget,
    RetryPause,
    Route,
    Service,
    Source,
    Station,
)

_MOST = 1e6  # a bound larger than this is no bound


@dataclass(frozen=True)
class MetastabilityStudy:
    """`margin`: capacity left while every try is late, as a share of it; `pause`: shortest one that collapses."""

    call: Retrying
    portrait: Portrait
    overload: float
    margin: float
    pause: ShortestTrigger


def study(call: Retrying) -> MetastabilityStudy:
    """Operating points and the shortest pause from which the call does not recover."""
    points, beyond = portrait(call), overload(call)
    if points.verdict is PortraitVerdict.METASTABLE:
        pause = smallest_pause(call)
    else:
        pause = ShortestTrigger(0.0 if points.verdict is PortraitVerdict.COLLAPSED else math.inf)
    return MetastabilityStudy(call, points, beyond, 1 - beyond / call.capacity, pause)


@dataclass(frozen=True)
class SafeRegion:
    """How far one quantity alone may go before the call stops being healthy; each is a bound that is still safe.

    Upper bounds: `tries`, `rate`, `share`, `most_retries`, `breaker`.  Lower bounds: `servers`, `per_try`.  None: not
    safe at any value; inf: safe at all.
    """

    tries: float | None
    rate: float | None
    share: float | None
    most_retries: float | None
    breaker: float | None
    servers: float | None
    per_try: float | None


def healthy(call: Retrying) -> bool:
    """One stable operating point below the capacity, and no overload that keeps itself up."""
    return portrait(call).verdict is PortraitVerdict.HEALTHY


def safe_region(call: Retrying) -> SafeRegion:
    """Each bound by bisection on the verdict.

    Sound because the verdict is monotone: more tries, rate, budget or breaker raise the map everywhere; more servers
    and a longer limit make fewer tries late (and fewer retries per second of the same concurrency).
    """
    server = call.server

    def bounded(**change: Any) -> bool:
        return healthy(replace(call, **change))

    def served(**change: Any) -> bool:
        return healthy(replace(call, server=replace(server, **change)))

    return SafeRegion(
        tries=_largest(lambda n: bounded(tries=n), 1, whole=True),
        rate=_largest(lambda x: bounded(rate=x), 1e-6 * call.capacity),
        share=_up_to_one(lambda x: bounded(share=x, floor=call.floor)),
        most_retries=_largest(lambda n: bounded(most_retries=n), 0, whole=True),
        breaker=_largest(lambda n: bounded(breaker=n), 1, whole=True),
        servers=_least(lambda n: served(servers=int(n)), 1, whole=True),
        per_try=_least(lambda x: served(per_try=x), server.mean),
    )


def _largest(safe: Callable[[float], bool], start: float, *, whole: bool = False) -> float | None:
    """Returns the largest safe value from `start` on (to a part in 10^6, or whole)."""
    if not safe(start):
        return None
    low, high = start, max(1.0, 2 * start)
    while safe(high):
        low, high = high, 2 * high
        if high > _MOST:
            return math.inf
    return _between(safe, low, high, whole=whole)


def _least(safe: Callable[[float], bool], start: float, *, whole: bool = False) -> float | None:
    """Returns the smallest safe value from `start` on."""
    if safe(start):
        return start
    low, high = start, 2 * start
    while not safe(high):
        low, high = high, 2 * high
        if high > _MOST * start:
            return None
    return _between(safe, high, low, whole=whole)


def _up_to_one(safe: Callable[[float], bool]) -> float | None:
    if not safe(0.0):
        return None
    return 1.0 if safe(1.0) else _between(safe, 0.0, 1.0)


def _between(safe: Callable[[float], bool], good: float, bad: float, *, whole: bool = False) -> float:
    """Returns the safe end of the last interval that bisection leaves; `good` is safe, `bad` is not."""
    if whole:
        return halved(safe, good, bad, middle=whole_mean)[0]
    return halved(safe, good, bad, near=lambda good, bad: abs(bad - good) <= 1e-6 * max(abs(good), abs(bad)))[0]


def program(call: Retrying, *, pause: float = 0.0, at: float = 0.0) -> Program:
    """The same call for the request-level engine: Poisson arrivals, one station, one route; a pause of its servers."""
    server = call.server
    family = "exponential" if server.cv == 1 else "constant" if server.cv == 0 else "gamma"
    share = (
        None
        if math.isinf(call.share)
        else RetryBudget(call.share, call.floor, "first" if call.of_first else "requests")
    )
    route = Route(
        "calls", "workers", tries=int(min(call.tries, 2**30)), per_try=server.per_try, retry_on=("timeout",),
        pause=RetryPause(call.pause, factor=1.0),
        cancel=server.cancel, budget=share, breaker=call.breaker, most_retries=call.most_retries,
    )  # fmt: skip
    return Program(
        sources=(Source("clients", Arrivals(rate=call.rate), (("calls",),)),),
        stations=(Station("workers", server.servers, Service(server.mean, family, server.cv)),),
        routes=(route,),
        outages=(Outage("workers", at, pause),) if pause > 0 else (),
    )


def escapes(call: Retrying, *, seeds: Iterable[int], until: float, committed: float | None = None) -> list[float]:
    """By request-level runs from rest: seconds until the queue is `committed` long (inf: not before `until`).

    `committed` defaults to what is served in twice the limit of a try, beyond every edge; it is looked at each tenth
    of that limit.
    """
    from coherence.simulate.requests.engine import RequestRun

    if call.server.cancel:
        raise UsageError("tries that are cancelled leave the queue: it does not commit to an overload")
    level = 2 * call.capacity * call.server.per_try if committed is None else committed
    step = call.server.per_try / 10
    return [_escape(RequestRun(program(call), seed=seed, sample_every=step), level, until, step) for seed in seeds]


def _escape(run: Any, level: float, until: float, step: float) -> float:
    """Advance in stretches and look back at the sampled queue."""
    end = 0.0
    while end < until:
        end = min(until, end + 400 * step)
        run.advance(until=end)
        series = run.result().series
        beyond = series["workers.queue"] >= level
        if beyond.any():
            return float(series["time"][beyond.argmax()])
    return math.inf


def chance(times: list[float], within: float, *, deviations: float = 2.576) -> tuple[float, float, float]:
    """Returns (share, low, high): escapes within `within` seconds, with Wilson's interval (99 % by default)."""
    n = len(times)
    if not n:
        raise UsageError("no runs: a share needs at least one")
    share, z2 = sum(time <= within for time in times) / n, deviations**2
    middle, reach = share + z2 / (2 * n), deviations * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return share, max(0.0, (middle - reach) / (1 + z2 / n)), min(1.0, (middle + reach) / (1 + z2 / n))
