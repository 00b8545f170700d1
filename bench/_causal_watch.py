"""Alerts of a watch in simulated weeks and faults, scrape by scrape without wall time.

`python -m bench._causal_watch KIND RUNS` prints each run; `rows` measures fewer of each.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator

from bench.harness import Row
from bench.known_systems.scraped import DAY, DESIGN, FAULTS, STEP, Fault, scrapes
from coherence.language.reading import read_text
from coherence.watching.monitor import SystemMonitor
from coherence.watching.signals import watched_system

SINCE = 1.25 * DAY
BY = {"oscillation": ("oscillation",), "drift": ("drift",)}  # the alerts that name a fault; DI names the others
RUNS = 3


def told(fault: Fault | None, seed: int, days: float) -> list[tuple[str, float]]:
    """Returns kind and hours since the fault (since the start, without one) of each alert that opens."""
    monitor = SystemMonitor(watched_system(read_text(DESIGN, "d.yaml"), "service"), STEP)
    begun = fault.since if fault else 0.0
    events = [event for time, values in scrapes(seed, days, fault) for event in monitor.take(time, values)]
    return [(event.alert.kind, (event.time - begun) / 3600) for event in events if event.opens]


def days_of(kind: str) -> float:
    """Returns how long a run is: until the deadline is broken of a drift, half a day of the others."""
    return {"healthy": 7.0, "drift": 2.25}.get(kind, 1.75)


def delay(kind: str, seed: int) -> float | None:
    """Returns the hours until the fault is named; None where it is not."""
    alerts = told(Fault(kind, SINCE), seed, days_of(kind))
    named = [hours for name, hours in alerts if name in BY.get(kind, ("DI",)) and hours >= 0]
    return min(named, default=None)


def rows() -> Iterator[Row]:
    """False alarms of healthy weeks, faults that are named, and how late."""
    alarms = [len(told(None, seed, 7.0)) for seed in range(RUNS)]
    yield Row("false alerts in a healthy week", sum(alarms) / RUNS, "<= 1", "alerts", f"{RUNS} weeks, seeds 0 on")
    for kind in FAULTS:
        delays = [delay(kind, 100 + seed) for seed in range(RUNS)]
        known = [hours for hours in delays if hours is not None]
        yield Row(f"{kind}: named, of {RUNS} runs", 100 * len(known) / RUNS, ">= 96", "%")
        if known:
            yield Row(f"{kind}: median delay", 60 * statistics.median(known), ">= 0", "min")


def main() -> None:
    """Prints the alerts of each run of a kind."""
    kind, runs = sys.argv[1], int(sys.argv[2])
    for seed in range(runs):
        fault = None if kind == "healthy" else Fault(kind, SINCE)
        print(kind, seed, told(fault, seed if fault is None else 100 + seed, days_of(kind)), flush=True)


if __name__ == "__main__":
    main()
