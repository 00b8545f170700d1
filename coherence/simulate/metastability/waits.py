"""How late tries are: the share that outlasts its limit, and the mean time in flight, in closed form.

A load of `load` tries per second meets `servers` alike, mean service time `mean` seconds, first come first served.

* abandon, exponential service: M/M/c exactly.  P(wait > t) = C exp(-(c/mean - load) t), C by Erlang.
* abandon, another coefficient of variation `cv`: an approximation.  The wait decays 2 / (1 + cv^2) times as fast
  (Allen and Cunneen's mean wait), the service is a constant part and an exponential one (cv < 1) or a mixture of two
  exponentials with balanced means (cv > 1).
* cancel: a try given up leaves queue and server, so the virtual wait never exceeds the limit.  Exponential service:
  exact for one server (the density of the wait is that of M/M/1, cut off at the limit); for more an approximation that
  neglects services cut short while a server is free (less than one in a hundred, as `per_try` is PATIENT means long).
  A busy server completes at rate 1 / mean whatever is cancelled, so that answers per second = busy servers / mean.

SOURCE: A. K. Erlang 1917; D. Y. Barrer, "Queuing with impatient customers and ordered service", Operations Research
1957; A. O. Allen, "Probability, Statistics, and Queueing Theory", 1990, for the scaling by cv.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.errors import UsageError
from coherence.base.queueing import erlang_b, erlang_c, two_phases

PATIENT = 5  # mean services


@dataclass(frozen=True)
class Server:
    """`servers` alike; `mean` seconds of service with coefficient of variation `cv`; a try ends after `per_try`."""

    servers: int
    mean: float
    per_try: float
    cv: float = 1.0
    cancel: bool = False

    @property
    def capacity(self) -> float:
        """Tries per second."""
        return self.servers / self.mean


@dataclass(frozen=True)
class Lateness:
    """At one load: share of tries that end late, and the mean seconds that a caller waits for one try."""

    late: float
    in_flight: float


def lateness(server: Server, load: float) -> Lateness:
    """At a load of `load` tries per second.  Both numbers grow with the load."""
    if server.cancel:
        return _cancelled(server, load)
    if load >= server.capacity:
        return Lateness(1.0, server.per_try)
    waits = erlang_c(server.servers, load * server.mean)
    decay = (server.capacity - load) * 2 / (1 + server.cv**2)
    parts = list(_service(server.mean, server.cv))
    late = sum(weight * _tail(waits, decay, (fixed, mean), server.per_try) for weight, fixed, mean in parts)
    flight = sum(weight * _mean_until(waits, decay, (fixed, mean), server.per_try) for weight, fixed, mean in parts)
    return Lateness(min(1.0, late), min(server.per_try, flight))


def _service(mean: float, cv: float) -> Iterator[tuple[float, float, float]]:
    """(weight, constant part, mean of the exponential part) with the mean and cv asked for."""
    if cv <= 1:
        yield 1.0, (1 - cv) * mean, cv * mean
        return
    share = (1 + math.sqrt((cv**2 - 1) / (cv**2 + 1))) / 2
    for weight in (share, 1 - share):
        yield weight, 0.0, mean / (2 * weight)


def _tail(waits: float, decay: float, service: tuple[float, float], limit: float) -> float:
    """P(wait + fixed + exponential > limit), the wait 0 with probability 1 - `waits`, else exponential."""
    fixed, mean = service
    left = limit - fixed
    if left < 0:
        return 1.0
    return (1 - waits) * _decayed(left, mean) + waits * two_phases(decay, mean, left)


def _decayed(time: float, mean: float) -> float:
    return math.exp(-time / mean) if mean > 0 else 0.0


def _mean_until(waits: float, decay: float, service: tuple[float, float], limit: float) -> float:
    """E[min(wait + fixed + exponential, limit)]: the time in each phase up to the limit, added up."""
    fixed, mean = service
    left = limit - fixed
    if left <= 0:
        return limit
    alone = -mean * math.expm1(-left / mean) if mean > 0 else 0.0
    waiting = -math.expm1(-decay * left) / decay if decay > 0 else left
    both = waiting + mean * (1 - two_phases(decay, mean, left))
    return fixed + (1 - waits) * alone + waits * both


def _cancelled(server: Server, load: float) -> Lateness:
    """The wait has density load * p(c-1) * exp(-(capacity - load) x) below the limit, and none above it."""
    if server.servers > 1 and server.per_try < PATIENT * server.mean:
        raise UsageError(
            f"tries of {server.per_try:g} s that are cancelled in service of {server.mean:g} s at {server.servers} "
            f"servers have no closed form; help: simulate, or allow at least {PATIENT} mean service times"
        )
    load = max(load, _NO_LOAD * server.capacity)
    gap = (server.capacity - load) * server.per_try
    if gap < -_STEEP:
        return Lateness(1 - server.capacity / load, server.per_try)
    # weights beside the states with a server free, which are those of Erlang's loss model without its last
    last_free = erlang_b(server.servers - 1, load * server.mean)
    queue = last_free * load * server.per_try * _moment_0(gap)
    waiting = last_free * load * server.per_try**2 * _moment_1(gap)
    busy = (load * server.mean * (1 - last_free) + server.servers * queue) / (1 + queue)
    answered = min(load, busy / server.mean)
    return Lateness(1 - answered / load, min(server.per_try, waiting / (1 + queue) + busy / load))


_NO_LOAD = 1e-9  # of the capacity: the limit is reached, and digits do not cancel yet
_STEEP = 500.0  # beyond, the wait stays at the limit to within e^-500


def _moment_0(z: float) -> float:
    """Integral of exp(-z x) over [0, 1]."""
    return -math.expm1(-z) / z if abs(z) > 1e-8 else 1 - z / 2


def _moment_1(z: float) -> float:
    """Integral of x exp(-z x) over [0, 1]."""
    return (_moment_0(z) - math.exp(-z)) / z if abs(z) > 1e-4 else 0.5 - z / 3
