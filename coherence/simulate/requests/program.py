"""Defines the request-level program that the event engine runs.  Seconds, and rates per second.

Sources issue requests; a request goes through its plan, stage by stage, each stage a set of routes
used at once (more than one: a fork that joins when all have answered).  A route sends tries to a
station, with time-outs, retries, hedges, a budget and a breaker.  A station serves tries with its
servers and may itself call on (its server is held meanwhile).  `processes` makes a program of a design.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

Plan = tuple[tuple[str, ...], ...]  # stages in order; the routes of a stage are used at once


@dataclass(frozen=True)
class RateBurst:
    """From `start` for `lasts`, arrivals come at `rate` instead; again every `every` (0: once)."""

    rate: float
    start: float
    lasts: float
    every: float = 0.0


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TimesInBlocks:
    """Times of arrivals that do not stand in memory all at once: seconds, ascending."""

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """Yields the times from the first on."""
        raise NotImplementedError


@dataclass(frozen=True)
class Arrivals:
    """When requests come.

    `kind`: poisson, regular, gamma (renewal with coefficient of variation `cv`), mmpp (`states` of
    (rate, mean stay), visited in a cycle, exponential stays) or trace (`times`, ascending).
    Bursts replace the rate of poisson, regular and gamma; a renewal process runs in operational time,
    the integral of the rate.
    """

    kind: str = "poisson"
    rate: float = 0.0
    cv: float = 1.0
    bursts: tuple[RateBurst, ...] = ()
    states: tuple[tuple[float, float], ...] = ()
    times: tuple[float, ...] | TimesInBlocks = field(default=(), compare=False)


@dataclass(frozen=True)
class Service:
    """Time that a server takes.

    `family`: exponential, constant, gamma, lognormal, uniform (cv <= 0.577), hyperexponential (cv > 1) or values.
    `values`, if given, are used in turn for successive services (replay), and `mean` is not read.  `quantiles` of the
    family `quantiles`: (share, time), straight between them, with `mean` as their mean.  No service takes longer than
    `most`: `mean` and `cv` are those of the family before it is cut.
    """

    mean: float
    family: str = "exponential"
    cv: float = 1.0
    values: tuple[float, ...] = field(default=(), compare=False)
    quantiles: tuple[tuple[float, float], ...] = ()
    most: float = math.inf


@dataclass(frozen=True)
class PlanShare:
    """A plan that so many requests of an owner follow, relative to those of its other cases."""

    case: str
    weight: float
    plan: Plan


@dataclass(frozen=True)
class BatchRule:
    """A server works on up to `largest` tries at once, `fixed + n * each`, and waits up to `wait` to fill a batch."""

    largest: int
    wait: float
    fixed: float
    each: float


Window = tuple[float, float]  # a time that is drawn, uniform between the two


@dataclass(frozen=True)
class MemberRestarts:
    """Servers that begin anew, with the loss of what they work on, and serve again once they have started.

    `working`, `hung`, `starting`: so long after the beginning of a service, of a pause of the station, and of a start,
    the soonest of them, where that goes on; each a time drawn anew.  `start`: how long a start takes.
    """

    working: tuple[Window, ...] = ()
    hung: tuple[Window, ...] = ()
    starting: tuple[Window, ...] = ()
    start: Service = Service(0.0, "constant", 0.0)


@dataclass(frozen=True)
class Station:
    """`servers` alike, and a queue of at most `room` waiting tries (more are rejected at once).

    `discipline`: fifo, lifo, priority (higher first, fifo within), or preemptive (a higher priority takes
    a server; the victim resumes later with what is left; `redo` makes it start again from nothing), or fair (nobody
    waits: all share the servers evenly, each at most one of them).
    `shed_above`: a try that would have to wait longer than this (queue x mean service / servers) is rejected.
    `by_source`: source -> the service of its requests; those of others, and the mean of all, are `service`.
    `cases`: the plans of which each try follows one, drawn by their weights, in place of `plan`.
    `restarts`: when its servers begin anew; an answer that comes at the same instant comes first.
    `at_once`: how many of its servers are one member.
    """

    name: str
    servers: int
    service: Service
    room: float = math.inf
    discipline: str = "fifo"
    redo: bool = False
    shed_above: float = math.inf
    batch: BatchRule | None = None
    plan: Plan = ()
    by_source: Mapping[str, Service] = field(default_factory=dict)
    cases: tuple[PlanShare, ...] = ()
    restarts: MemberRestarts | None = None
    at_once: int = 1


@dataclass(frozen=True)
class RetryPause:
    """Pause before retry k (k = 1, 2, ...): min(cap, base * factor^(k-1)), times a number drawn from `spread`.

    `decorrelated`: uniform in [base, 3 x the pause before], at most cap, instead.
    """

    base: float = 0.0
    factor: float = 2.0
    cap: float = math.inf
    spread: tuple[float, float] = (1.0, 1.0)
    decorrelated: bool = False


@dataclass(frozen=True)
class RetryBudget:
    """Retries in flight on a route are at most max(floor, share x `of` in flight).

    `of`: "requests" (all tries in flight with the one that failed, retries included, as Envoy counts) or "first"
    (first tries).
    """

    share: float
    floor: float = 0.0
    of: str = "requests"


@dataclass(frozen=True)
class PacedRetries:
    """Retries of a route within the last `window` are at most max(floor, share x sends of the route in it).

    `of`: "requests" (all its sends, retries included) or "first" (first tries).  A retry counts from its grant on,
    before its pause.  The window moves on in hundredths of its length.
    """

    window: float
    share: float = 0.0
    floor: float = 0.0
    of: str = "requests"


@dataclass(frozen=True)
class OpeningBreaker:
    """Opens for `open_for` seconds when `share` of the `last` outcomes of tries, at least `least`, are failures.

    The first try after it is open makes it half open: `trials` are let through and judged by the same share, and it
    opens again or closes.  A try given up with its call counts for nothing.
    """

    share: float
    last: int
    least: int
    open_for: float
    trials: int = 1


@dataclass(frozen=True)
class Route:
    """Tries of `station` on behalf of its callers.

    `tries`: in total, with the first.  `per_try`: limit of one try; `deadline`: of all tries and pauses.
    `retry_on`: causes that are tried again, of timeout, rejected, failed, refused.
    `cancel`: a try given up leaves the station's queue and frees its server; else it is served to its end.
    `breaker`: at most this many tries in flight, more are rejected without being sent and not tried again.
    `most_retries`: at most this many retries in flight.  `hedge_after`: a second copy after this long; the
    first answer wins and the other copy is given up.
    `paced`: a budget of retries in a window.
    `opening`: a breaker that fails tries at once, `rejected`, while it is open.
    `fallback`: the route that is used in place of this one when all its tries have failed; none where it is empty.
    """

    name: str
    station: str
    tries: int = 1
    per_try: float = math.inf
    deadline: float = math.inf
    pause: RetryPause = RetryPause()
    retry_on: tuple[str, ...] = ("timeout", "rejected", "failed", "refused")
    cancel: bool = False
    budget: RetryBudget | None = None
    breaker: float = math.inf
    most_retries: float = math.inf
    hedge_after: float = math.inf
    fallback: str = ""
    opening: OpeningBreaker | None = None
    paced: PacedRetries | None = None


@dataclass(frozen=True)
class Source:
    """Requests of one kind.  `turns` (low, high): the plan is gone through so many times (uniform whole number).

    `deadline`: a request that has not ended then fails, and what it waits for is given up.  `cases`: the plans of which
    each request follows one, drawn by their weights, in place of `plan`.  `again`: another
    comes whenever one has ended.
    """

    name: str
    arrivals: Arrivals
    plan: Plan
    turns: tuple[int, int] = (1, 1)
    priority: int = 0
    deadline: float = math.inf
    cases: tuple[PlanShare, ...] = ()
    again: bool = False


@dataclass(frozen=True)
class Gate:
    """A limit on the tries that some routes send together.

    With a `window` at most `most` pass in any window of this length; those beyond are rejected (and count as well where
    it `counts_refused`), or, where it `waits`, they are sent in turn as soon as there is room.  Without one a bucket of
    `most` tokens that fills at `rate` and is full at first: a try takes one, and without one it is rejected.
    """

    name: str
    routes: tuple[str, ...]
    most: float
    window: float = 0.0
    rate: float = 0.0
    waits: bool = False
    counts_refused: bool = False


@dataclass(frozen=True)
class Outage:
    """A station stands still: `pause` freezes its servers and keeps its queue; `refuse` rejects new tries too."""

    station: str
    start: float
    lasts: float
    kind: str = "pause"


@dataclass(frozen=True)
class Program:
    """Everything that a request-level run needs."""

    sources: tuple[Source, ...]
    stations: tuple[Station, ...]
    routes: tuple[Route, ...]
    outages: tuple[Outage, ...] = ()
    gates: tuple[Gate, ...] = ()
