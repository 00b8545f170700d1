"""Holds what an index of coordination may read: the log of requests, entitlements, bursts, bands and actions."""

from __future__ import annotations

from dataclasses import dataclass, field

from coherence.causal.answers.intervals import LEVEL
from coherence.causal.data.request_log import COLUMNS, RequestLog
from coherence.causal.data.series import Floats

BATCHES = 12


@dataclass(frozen=True)
class ArrivalBurst:
    """First attempts of a service that come much faster than usual, from `start` to `end` (s)."""

    service: str
    start: float
    end: float


@dataclass(frozen=True)
class Tube:
    """An actuated quantity over time, and the band [low, high] that would have been good enough at each time."""

    name: str
    times: Floats
    values: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class LoopAction:
    """A loop changes a shared quantity by `change` at a time (s)."""

    time: float
    loop: str
    quantity: str
    change: float


@dataclass(frozen=True)
class IndexInputs:
    """Holds all that an index may read.  What is absent is None or empty, and an index that needs it says so.

    `servers`: devices that the latency class may claim (its entitlement); `latency_class`: its name where the log has
    several; `provisioned`: devices in all; `bursts`: None to find them in the first attempts; `drain`: seconds after
    a burst in which it is still felt (None: as long as the burst); `horizon`: seconds that control coherence looks
    back (twenty periods of the slowest loop); `calls`: (caller, callee) of the design, by which hops are counted.
    """

    log: RequestLog | None = None
    servers: int | None = None
    latency_class: str | None = None
    provisioned: float | None = None
    bursts: tuple[ArrivalBurst, ...] | None = None
    drain: float | None = None
    tubes: tuple[Tube, ...] = ()
    actions: tuple[LoopAction, ...] = ()
    horizon: float | None = None
    calls: tuple[tuple[str, str], ...] = ()
    batches: int = BATCHES
    level: float = field(default=LEVEL)


def missing_inputs(facts: IndexInputs, *, twin: bool = False, columns: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Returns what an index over requests lacks, in words: the log, the servers of the twin, columns of the log."""
    if facts.log is None:
        return ("a log of requests with arrival, need and end",)
    lacking = [f"column '{name}': {COLUMNS[name]}" for name in columns if name in facts.log.lacks]
    if twin and facts.servers is None:
        lacking.append("how many servers the latency class may claim (`entitlement` of its workload)")
    if twin and len(facts.log.classes) > 1 and facts.latency_class not in facts.log.classes:
        lacking.append(
            f"which of the classes {', '.join(facts.log.classes)} is the latency class (its workload has `entitlement`)"
        )
    return tuple(lacking)


def latency_requests(facts: IndexInputs) -> RequestLog:
    """Returns the requests of the latency class."""
    assert facts.log is not None
    if len(facts.log.classes) > 1 and facts.latency_class is not None:
        return facts.log.of_class(facts.latency_class)
    return facts.log
