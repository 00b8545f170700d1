"""Makes incidents in systems of services with known calls, in the shape of RCAEval: one column a service and metric.

A service's latency is its own and that of what it calls; its failures likewise; requests come from the frontend.  Own
parts remember their past, and load moves the processors.  A fault is at one service: its processor, its memory, a
delay, or lost packets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats, Series
from tests.causal.systems import wandering

FAULTS = ("cpu", "mem", "delay", "loss")
NORMAL, INCIDENT = 600, 60
FRONT = "frontend"


@dataclass(frozen=True)
class MadeIncident:
    """Telemetry before and in an incident, who calls whom, where it shows, and where it is."""

    normal: Series
    incident: Series
    calls: dict[str, tuple[str, ...]]
    signal: str
    truth: str


def made_incident(seed: int, fault: str = "") -> MadeIncident:
    """Returns an incident; without a fault the last stretch is as calm as all."""
    rng = np.random.default_rng(seed)
    calls = _calls(rng, int(rng.integers(6, 13)))
    truth = str(rng.choice(list(calls)[1:]))
    rows = NORMAL + INCIDENT
    now = (np.arange(rows) >= NORMAL).astype(float) * (1.0 if fault else 0.0)
    load = 100 + wandering(rng, rows, 0.9, 4)
    columns: dict[str, Floats] = {}
    loads = {name: load if name == FRONT else 0 * load for name in calls}
    for service in calls:  # callers come before what they call
        for callee in calls[service]:
            loads[callee] = loads[callee] + loads[service]
    for service in reversed(calls):
        hit = now if service == truth else 0 * now
        columns[f"{service}_load"] = loads[service] + rng.normal(size=rows)
        busy = 0.3 * load + wandering(rng, rows, 0.7, 2)
        columns[f"{service}_cpu"] = busy + (40 * hit if fault == "cpu" else 0)
        columns[f"{service}_mem"] = 200 + wandering(rng, rows, 0.98, 1) + (hit.cumsum() * 5 if fault == "mem" else 0)
        own = 10 + 0.05 * busy + wandering(rng, rows, 0.5, 0.5)
        own = own + hit * {"cpu": 8.0, "mem": 6.0, "delay": 15.0, "loss": 3.0, "": 0.0}[fault]
        waits = [columns[f"{callee}_latency"] for callee in calls[service]]
        columns[f"{service}_latency"] = own + sum(waits, np.zeros(rows)) + 0.2 * rng.normal(size=rows)
        failed = np.abs(wandering(rng, rows, 0.3, 0.2)) + (5 * hit if fault == "loss" else 0)
        below = [columns[f"{callee}_error"] for callee in calls[service]]
        columns[f"{service}_error"] = failed + sum(below, np.zeros(rows))
    series = Series(tuple(columns), np.column_stack(list(columns.values())), 1.0)
    signal = f"{FRONT}_{'error' if fault == 'loss' else 'latency'}"
    return MadeIncident(series.between(0, NORMAL), series.between(NORMAL, rows), calls, signal, truth)


def _calls(rng: np.random.Generator, size: int) -> dict[str, tuple[str, ...]]:
    """A tree from the frontend with some further calls, which go down alone: nobody waits twice for one answer."""
    names = [FRONT, *(f"service-{n}" for n in range(1, size))]
    calls: dict[str, list[str]] = {name: [] for name in names}
    for at in range(1, size):
        calls[names[int(rng.integers(max(0, at - 3), at))]].append(names[at])
    for _ in range(2):
        low, high = sorted(rng.choice(size, 2, replace=False).tolist())
        if names[high] not in calls[names[low]]:
            calls[names[low]].append(names[high])
    return {name: tuple(callees) for name, callees in calls.items()}
