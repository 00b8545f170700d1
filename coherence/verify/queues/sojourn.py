"""Computes the fewest servers that keep a demand on time in a queue: M/M/c in closed form.

Symbols: lambda arrivals and mu service rate (1/s), c servers, a = lambda / mu, theta = c mu - lambda, C Erlang's
probability of waiting.  P(T > t) = exp(-mu t) + C mu (exp(-theta t) - exp(-mu t)) / (mu - theta), and the mean is
1/mu + C/theta.  Both fall with c and rise with lambda.
SOURCE: Kleinrock, Queueing Systems I (1975), sections 3.5 and 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.bisection import halved
from coherence.base.queueing import erlang_c, erlang_c_of_all, two_phases

MOST_SERVERS = 200_000
SAFE = 1e-9  # relative: far above the rounding of the recurrence, far below what is written in designs


@dataclass(frozen=True)
class LatencyBound:
    """At most `limit` seconds: on average (`share` None), or for this share of all requests."""

    limit: Fraction
    share: Fraction | None = None

    def excess(self, arrivals: float, rate: float, wait: float, servers: int) -> float:
        """Returns by how much, relative, the demand is exceeded; at most 0 where it is kept."""
        spare = servers * rate - arrivals
        if self.share is None:
            return (1 / rate + wait / spare) / float(self.limit) - 1
        allowed = float(1 - self.share)
        late = tail(rate, spare, wait, float(self.limit))
        return late / allowed - 1 if allowed else math.inf

    @property
    def least_rate(self) -> float:
        """Returns the service rate below which no number of servers is enough."""
        if self.share is None:
            return 1 / float(self.limit)
        return -math.log1p(-float(self.share)) / float(self.limit)


def tail(rate: float, spare: float, wait: float, time: float) -> float:
    """Returns P(T > time) where a request waits with probability `wait`, for 1 / spare on average."""
    return (1 - wait) * math.exp(-rate * time) + wait * two_phases(spare, 1 / rate, time)


def fewest(demand: LatencyBound, arrivals: Fraction, rate: Fraction, *, surely: bool) -> int | None:
    """Returns the fewest servers that keep the demand; None where none do.

    `surely`: enough beyond any rounding; else, with one less it is broken beyond any rounding.
    """
    return _first(demand, arrivals, rate, (lambda over: over < -SAFE) if surely else (lambda over: over <= SAFE))


def carried(demand: LatencyBound, servers: int, rate: Fraction) -> Fraction:
    """Returns more arrivals per second than so many servers can carry within the demand, by little."""
    mu = float(rate)

    def within(carried: float) -> bool:
        wait = erlang_c(servers, carried / mu)
        return wait < 1 and demand.excess(carried, mu, wait, servers) <= SAFE

    return Fraction(halved(within, 0.0, servers * mu, steps=60)[1]) * (1 + Fraction(SAFE))


def _first(demand: LatencyBound, arrivals: Fraction, rate: Fraction, good: Callable[[float], bool]) -> int | None:
    if demand.limit <= 0 or rate <= 0 or demand.least_rate > float(rate) * (1 + SAFE):
        return None
    lam, mu = float(arrivals), float(rate)
    waits = erlang_c_of_all(lam / mu, MOST_SERVERS)
    return next((c for c, wait in waits if good(demand.excess(lam, mu, wait, c))), None)
