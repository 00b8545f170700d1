"""Follows the coordinated twin of one workload from scrape to scrape, at many slowdowns gamma at once.

Scrapes hold rates and means, no requests, so that the twin is the pointwise stationary fluid flow of an M/G/c queue:

    dL/dt = rate - c rho(L) / (gamma need),    L(rho) = c rho + v rho C(c, c rho) / (1 - rho),    v = (1 + cv^2) / 2

L: requests present, c: servers, C: Erlang's probability of waiting, v: Allen and Cunneen's factor.  Each step is
implicit, which is exact at rest and in long overloads; while load changes in heavy traffic it is
some hundredths too slow.  The law of needs is a gamma law of their mean and cv.

Who waits does so for a fixed time and an exponential one.  Of q requests in line, those that chance has brought are

    min(q, sqrt(v q (1 + load) / |1 - load|)),    load = rate need / c

which is all of a line at rest, and little of one that an overload has left: its fluctuations are those of diffusion.
SOURCE: Tipper, Sundareshan, Numerical methods for modeling computer networks under nonstationary conditions, 1990;
Allen, Probability, statistics and queueing theory, 1990, section 5.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from coherence.base.queueing import erlang_c
from coherence.causal.data.series import Floats
from coherence.simulate.requests.compiled import entry

FINE: Floats = np.arange(-5, 21) / 100  # log gamma: an overload leaves queues at 1.1 that are not there at 1.05
LOG_GAMMAS: Floats = np.concatenate(
    [np.linspace(math.log(0.25), FINE[0], 12)[:-1], FINE, np.linspace(FINE[-1], math.log(64.0), 37)[1:]]
)
GAMMAS: Floats = np.exp(LOG_GAMMAS)
ALIKE = 16  # the place of gamma = 1
EDGES: Floats = np.concatenate([np.linspace(0, 0.9, 19), 1 - np.geomspace(0.07, 1e-6, 16), [1]])  # of needs


@dataclass(frozen=True)
class TwinStep:
    """What the twins of all gammas do within a scrape: P(an arrival waits), mean wait (s), and their needs (s).

    `chance`: mean of the exponential part of the wait of who waits (s); the rest of it is fixed.
    """

    waits: Floats
    wait: Floats
    needs: Floats
    chance: Floats

    @property
    def sojourn(self) -> Floats:
        """Returns mean seconds from arrival to answer; grows with gamma."""
        return self.needs + self.wait


@dataclass(frozen=True)
class TwinQueue:
    """An M/G/c queue: `servers`, and the coefficient of variation of needs."""

    servers: int
    cv: float

    @cached_property
    def table(self) -> tuple[Floats, Floats, Floats]:
        """Returns (rho, L, C) of queues at rest, from idle to within 1e-5 of full."""
        return _table(self.servers, self.cv)

    @cached_property
    def need_quantiles(self) -> Floats:
        """Returns the mean need of each stretch of the law of needs, whose mean is 1."""
        return _stretches(self.cv)

    def advanced(self, present: Floats, rate: float, need: float, seconds: float) -> tuple[Floats, TwinStep]:
        """Returns the requests present after so many seconds of a rate (1/s) of requests of a mean need (s)."""
        needs = GAMMAS * need
        variability = (1 + self.cv * self.cv) / 2
        after, waits, wait, chance = _stepped(
            present, rate, needs, seconds, float(self.servers), variability, *self.table
        )
        return after, TwinStep(waits, wait, needs, chance)

    def in_time(self, step: TwinStep, limit: float) -> Floats:
        """Returns the shares of arrivals that are answered within `limit` seconds; fall with gamma."""
        waited = _answered(step.needs, self.need_quantiles, np.diff(EDGES), step.waits, step.wait, step.chance, limit)
        shares: Floats = (1 - step.waits) * self._fits(limit / step.needs) + step.waits * waited
        return shares

    def _fits(self, ratios: Floats) -> Floats:
        """Returns P(need <= ratio) of needs whose mean is 1."""
        if self.cv <= 0:
            return np.asarray(ratios >= 1, np.float64)
        from scipy.special import gammainc

        shape = 1 / (self.cv * self.cv)
        return np.asarray(gammainc(shape, shape * ratios), np.float64)


@entry
def _stepped(  # noqa: PLR0913, PLR0917  (arrays of one step)
    present: Floats, rate: float, needs: Floats, seconds: float, servers: float, variability: float,
    rho: Floats, length: Floats, waits: Floats,
) -> tuple[Floats, Floats, Floats, Floats]:  # fmt: skip
    """Returns requests present, P(wait), mean wait, and the mean of its part by chance.

    Solves L' + served rho(L') = L + seconds rate for each gamma.
    """
    after, share, wait = np.zeros(len(needs)), np.zeros(len(needs)), np.zeros(len(needs))
    chance = np.zeros(len(needs))
    for k in range(len(needs)):
        served = seconds * servers / needs[k]
        wanted = present[k] + seconds * rate
        low, high = 0, len(rho) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if length[middle] + served * rho[middle] <= wanted:
                low = middle
            else:
                high = middle
        below, above = length[low] + served * rho[low], length[high] + served * rho[high]
        part = min(1.0, max(0.0, (wanted - below) / (above - below)))
        busy = rho[low] + part * (rho[high] - rho[low])
        after[k] = max(wanted - served * busy, 0.0)
        share[k] = waits[low] + part * (waits[high] - waits[low])
        if busy > 1e-12:
            line = max(after[k] - servers * busy, 0.0)
            wait[k] = line * needs[k] / (servers * busy)
            load = rate * needs[k] / servers
            swings = variability * (1 + load) * max(share[k], 1e-12)
            chance[k] = wait[k] / max(share[k], 1e-12) * math.sqrt(min(1.0, swings / max(abs(1 - load) * line, 1e-12)))
    return after, share, wait, chance


@entry
def _answered(
    needs: Floats, quantiles: Floats, weights: Floats, waits: Floats, wait: Floats, chance: Floats, limit: float
) -> Floats:  # fmt: skip
    """Returns P(need + wait <= limit) of who waits, for each gamma: for a fixed and an exponential time."""
    shares = np.zeros(len(needs))
    for k in range(len(needs)):
        fixed = wait[k] / max(waits[k], 1e-12) - chance[k]
        for j in range(len(quantiles)):
            left = limit - needs[k] * quantiles[j]
            if left >= 0:
                shares[k] += weights[j] * (1 - math.exp(-max(left - fixed, 0.0) / max(chance[k], 1e-12)))
    return shares


@lru_cache(maxsize=64)
def _table(servers: int, cv: float) -> tuple[Floats, Floats, Floats]:
    rho = np.concatenate([np.linspace(0, 0.95, 96)[:-1], 1 - np.geomspace(0.05, 1e-5, 48)])
    waits = np.array([erlang_c(servers, servers * share) if share > 0 else 0.0 for share in rho.tolist()])
    length = servers * rho + (1 + cv * cv) / 2 * rho * waits / (1 - rho)
    return rho, length, waits


@lru_cache(maxsize=64)
def _stretches(cv: float) -> Floats:
    """Mean of the gamma law of mean 1 between two quantiles: from its law with one more in the shape."""
    if cv <= 0:
        return np.ones(len(EDGES) - 1)
    from scipy.special import gammainc, gammaincinv

    shape = 1 / (cv * cv)
    below = gammainc(shape + 1, gammaincinv(shape, EDGES))
    return np.asarray(np.diff(below) / np.diff(EDGES), np.float64)
