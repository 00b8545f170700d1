"""A system that is scraped, with known faults: every request goes through a queue, and no wall time passes.

Requests come by a rate with days, weekends, bursts and a wandering factor, in two services that share the servers.
`healthy` weeks have an overhead of 5 % and nothing else; a fault begins at `since`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats
from coherence.causal.twins.coordinated_twin import starts

STEP, DAY = 15.0, 86_400.0
SERVERS, NEED, DEADLINE, RATE = 8, 0.4, 4.0, 11.0
OVERHEAD = 1.05
FAULTS = ("collapse", "silence", "slower", "oscillation", "drift")
DESIGN = f"""\
coherence: 1
system: simulated service
workload:
  web: {{rate: {RATE:g} req/s, service: {{mean: {NEED:g} s, cv: 1}}, deadline: {DEADLINE:g} s, entitlement: {SERVERS}}}
telemetry:
  web.rate: sum(rate(requests_total[1m]))
  web.latency: latency
  web.p99: latency_p99
  web.in_time: in_time
  web.done: done
  web.held: held
  pool.members: members
"""


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and when (s)."""

    kind: str
    since: float


def scrapes(seed: int, days: float, fault: Fault | None = None) -> Iterator[tuple[float, Mapping[str, float]]]:
    """Yields the time and the values of each scrape, a day of requests at a time."""
    rng = np.random.default_rng(seed)
    drift, held_over = 0.0, np.zeros(0)
    for day in range(math.ceil(days)):
        bins = int(min(1.0, days - day) * DAY / STEP)
        times = np.asarray(day * DAY + STEP * np.arange(bins), np.float64)
        rates, drift = _rates(rng, times, drift)
        counts = rng.poisson(rates * STEP)
        arrival = np.repeat(times, counts) + rng.uniform(0, STEP, counts.sum())
        order = np.argsort(arrival, kind="stable")
        arrival = arrival[order]
        need = rng.exponential(NEED, len(arrival))
        took = need * OVERHEAD * _slowness(arrival, fault)
        come = np.concatenate([np.full(len(held_over), arrival[0]), arrival])
        begun = starts(come, np.concatenate([held_over, took]), SERVERS)[len(held_over) :]
        ends = begun + took
        held_over = np.sort(ends[ends > times[-1] + STEP] - times[-1] - STEP)[-SERVERS:]
        yield from _scraped(rng, times, arrival, need, took, ends - arrival, fault)


def _rates(rng: np.random.Generator, times: Floats, drift: float) -> tuple[Floats, float]:
    """Requests per second: the day, the weekend, a factor that wanders, and three bursts a day."""
    day = 1 - 0.35 * np.cos(2 * np.pi * times / DAY)
    weekend = np.where(times // DAY % 7 >= 5, 0.7, 1.0)
    wander = np.empty(len(times))
    steps = 0.004 * rng.normal(size=len(times))
    for k, step in enumerate(steps.tolist()):
        drift = 0.9995 * drift + step
        wander[k] = drift
    burst = np.ones(len(times))
    for start in rng.integers(0, len(times), 3).tolist():
        burst[start : start + int(rng.integers(12, 40))] *= 1.35
    return RATE * day * weekend * np.exp(np.clip(wander, -0.2, 0.2)) * burst, drift


def _slowness(arrival: Floats, fault: Fault | None) -> Floats:
    """The factor on the service of each request."""
    factor = np.ones(len(arrival))
    if fault is None or fault.kind == "silence":
        return factor
    later = arrival >= fault.since
    age = arrival[later] - fault.since
    factor[later] = {
        "collapse": np.full(len(age), 3.0), "slower": np.full(len(age), 1.3),
        "oscillation": 1 + 0.2 * np.sin(2 * np.pi * age / 480), "drift": 1 + 0.75 * age / DAY,
    }[fault.kind]  # fmt: skip
    return factor


def _scraped(
    rng: np.random.Generator, times: Floats, arrival: Floats, need: Floats, took: Floats, sojourn: Floats,
    fault: Fault | None,
) -> Iterator[tuple[float, Mapping[str, float]]]:  # fmt: skip
    edges = np.searchsorted(arrival, np.append(times, times[-1] + STEP))
    for k, time in enumerate(times.tolist()):
        here = slice(edges[k], edges[k + 1])
        waits, count = sojourn[here], edges[k + 1] - edges[k]
        gone = fault is not None and fault.kind == "silence" and time >= fault.since
        swing = fault is not None and fault.kind == "oscillation" and time >= fault.since
        turn = 2 * math.sin(2 * math.pi * time / 480) if swing else 0.0
        values = {
            "web.rate": count / STEP,
            "web.latency": float(waits.mean()) if count and not gone else math.nan,
            "web.p99": float(np.partition(waits, at := int(0.99 * count))[at]) if count and not gone else math.nan,
            "web.in_time": (0.0 if gone else float((waits <= DEADLINE).mean())) if count else math.nan,
            "web.done": 0.0 if gone else float(need[here].sum()) / NEED / STEP,
            "web.held": float(took[here].sum()) / STEP * (1.1 + 0.02 * rng.normal()),
            "pool.members": float(np.round(SERVERS + 0.1 * count / STEP + 0.3 * rng.normal() + turn)),
        }
        yield time + STEP, values
