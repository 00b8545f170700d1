"""Reads from a design what there is to watch: its workloads, the signals that tell of each, and where they are asked.

`telemetry:` of the design gives a PromQL for each.  Of a workload W:

    W.rate       first attempts per second
    W.latency    mean seconds from first attempt to answer
    W.p99        its 99th percentile (s)
    W.service    mean isolated need (s); without it `service` of the workload
    W.in_time    share of the requests that are answered within the deadline
    W.done       answers per second that were still wanted
    W.held       devices held

Every other signal is looked at for oscillations; one whose name is the path of a number (`workload.W.rate`,
`components.web.takes.serve`) also moves the design.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coherence.base.errors import UsageError
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Spread2, Workload

QUANTITIES = ("rate", "latency", "p99", "service", "in_time", "done", "held")


@dataclass(frozen=True)
class WatchedWorkload:
    """A workload: the servers that it may claim, its deadline (s), mean need (s) and cv; None of what is not stated."""

    name: str
    measured: frozenset[str]
    servers: int | None
    deadline: float | None
    need: float | None
    cv: float

    def has(self, *quantities: str) -> bool:
        """Returns whether all these are measured."""
        return self.measured.issuperset(quantities)

    def signal(self, quantity: str) -> str:
        """Returns the name of its signal of a quantity."""
        return f"{self.name}.{quantity}"


@dataclass(frozen=True)
class WatchedSystem:
    """What of a design is watched; `lacks`: what is not, and what to add for it."""

    system: str
    queries: Mapping[str, str]
    workloads: tuple[WatchedWorkload, ...]
    others: tuple[str, ...]
    lacks: tuple[str, ...]


def watched_system(design: Design, system: str) -> WatchedSystem:
    """Returns what is watched of a design.  Raises UsageError where it names no signal."""
    queries = {name: str(query) for name, query in design.telemetry.items()}
    if not queries:
        names = ", ".join(f"{name}.rate, {name}.latency" for name in design.workload) or "web.rate, web.latency"
        raise UsageError(f"nothing is watched: write `telemetry: {{SIGNAL: PromQL}}` into the design, of {names}")
    workloads = tuple(_workload(design, load) for load in design.workload.values())
    known = {load.signal(quantity) for load in workloads for quantity in QUANTITIES}
    others = tuple(name for name in queries if name not in known)
    return WatchedSystem(system, queries, workloads, others, tuple(_lacks(workloads)))


def _workload(design: Design, load: Workload) -> WatchedWorkload:
    measured = frozenset(quantity for quantity in QUANTITIES if f"{load.name}.{quantity}" in design.telemetry)
    mean = load.service.mean if isinstance(load.service, Spread2) else load.service
    return WatchedWorkload(
        load.name, measured, _servers(design, load), _number(load.deadline), _number(mean), _variation(load)
    )


def _variation(load: Workload) -> float:
    """The coefficient of variation of needs: as stated, 0 of one time for all, else that of the exponential law."""
    if isinstance(load.service, Spread2):
        stated = _number(load.service.cv)
        return 1.0 if stated is None else stated
    return 0.0 if isinstance(load.service, Quantity) and load.service.exact else 1.0


def _servers(design: Design, load: Workload) -> int | None:
    stated = _number(load.constants.get("entitlement"))
    if stated is not None:
        return int(stated) if stated >= 1 else None
    counts = [_number(tier.count) for tier in design.tiers.values()]
    alone = len(design.workload) == 1 and len(counts) == 1 and counts[0] is not None and counts[0] >= 1
    return int(counts[0]) if alone and counts[0] is not None else None


def _number(stated: object) -> float | None:
    return float(stated.low) if isinstance(stated, Quantity) and stated.exact and stated.low is not None else None


def _lacks(workloads: tuple[WatchedWorkload, ...]) -> Iterator[str]:
    for load in workloads:
        if not load.measured:
            continue
        if load.servers is None:
            yield f"indices of {load.name}: write workload.{load.name}.entitlement, the servers that it may claim"
        if load.need is None and not load.has("service"):
            yield f"indices of {load.name}: write workload.{load.name}.service, or measure {load.signal('service')}"
        for index, wanted in (("DI", ("rate", "latency")), ("CI", ("rate", "in_time")), ("HCL", ("done", "held"))):
            absent = [load.signal(quantity) for quantity in wanted if not load.has(quantity)]
            if absent:
                yield f"{index} of {load.name}: add {', '.join(absent)} to `telemetry:`"
        if load.deadline is None:
            yield f"margin of {load.name}: write workload.{load.name}.deadline"


def positive(value: float | None) -> float | None:
    """Returns a measured amount that can be one: finite and not negative; None of anything else."""
    return value if value is not None and math.isfinite(value) and value >= 0 else None
