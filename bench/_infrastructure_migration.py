"""What is said of a move to another environment: certificates of loops beside their roots, tails beside runs.

A certificate is wrong where the closed second loop has a root on or outside of the circle, or less margin than was
left.  Tails are predicted from the law of services, and run: queues of one to four servers, one after another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from bench.harness import Row
from coherence.exploring.tail_changes import LATE, tail_of
from coherence.loops.margins.nu_gap import nu_gap
from coherence.loops.multirate.opened_lap import OpenedLap
from coherence.simulate.requests.program import Service, Station

PAIRS, MOVES, REQUESTS, SERVERS = 5_000, 60, 200_000, 4


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from certificate_rows()
    yield from tail_rows()


def certificate_rows() -> Iterator[Row]:
    """Loops that integrate, with another gain and a delay that is a period longer or shorter in the second place."""
    drawn, stable, certified, wrong = np.random.default_rng(11), 0, 0, 0
    for _ in range(PAIRS):
        gain, delay = drawn.uniform(0.05, 0.7), int(drawn.integers(0, 4))
        other = gain * math.exp(drawn.normal(0, 0.3)), max(0, delay + int(drawn.integers(-1, 2)))
        first, second = integrating(gain, delay), integrating(*other)
        gap = nu_gap(first, second)
        both = settles(first) and settles(second)
        stable, certified = stable + both, certified + (both and gap.certified)
        if gap.certified:
            wrong += not both or nu_gap(second, first).margin * 1.01 < gap.margin_left
    yield Row(f"{PAIRS} pairs of environments: wrong certificates", wrong, "== 0", "")
    yield Row(f"certified of {stable} pairs that are stable in both", certified / stable, ">= 0.7", "of 1")


def integrating(gain: float, delay: int) -> OpenedLap:
    """Returns x + gain e as an opened lap whose command acts after so many periods."""
    size = 1 + delay
    a, b, c = np.eye(size, k=-1), np.zeros((size, 1)), np.zeros((1, size))
    a[0, 0] = b[0, 0] = 1.0
    c[0, -1] = -gain
    return OpenedLap(a, b, c, np.zeros((1, 1)), Fraction(15))


def settles(lap: OpenedLap) -> bool:
    """Decides by the eigenvalues of the closed lap."""
    return bool(np.abs(np.linalg.eigvals(lap.a + lap.b @ lap.c)).max() < 1 - 1e-12)


def tail_rows() -> Iterator[Row]:
    """The ratio of the P99 of a hop after a move to that before it, predicted and run, in logarithms."""
    drawn = np.random.default_rng(12)
    shape = (MOVES, 2)
    servers = np.repeat(drawn.integers(1, SERVERS + 1, (MOVES, 1)), 2, axis=1)  # a move keeps how many there are
    means, cvs = np.exp(drawn.normal(0, 0.3, shape)), drawn.uniform(0.4, 1.4, shape)
    loads = drawn.uniform(0.4, 0.85, (MOVES, 1))
    rates = servers[:, :1] * loads / means.max(axis=1, keepdims=True) * np.ones(shape)  # of equal demand
    seen = ran(servers.ravel(), means.ravel(), cvs.ravel(), rates.ravel()).reshape(shape)
    told = np.array([
        predicted(int(count), float(mean), float(cv), float(rate))
        for count, mean, cv, rate in zip(servers.flat, means.flat, cvs.flat, rates.flat, strict=True)
    ]).reshape(shape)  # fmt: skip
    moved, said = (np.log(tails[:, 1] / tails[:, 0]) for tails in (seen, told))
    by_means = np.log(means[:, 1] / means[:, 0])
    yield Row(f"{MOVES} moves: correlation of predicted and run tails", correlation(said, moved), ">= 0.99", "of 1")
    yield Row(f"{MOVES} moves: mean error of the logarithm", float(np.abs(said - moved).mean()), "<= 0.05", "")
    gain = correlation(said, moved) - correlation(by_means, moved)
    yield Row("what the correlation gains over that of mean services", gain, ">= 0", "of 1")


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Returns Pearson's coefficient."""
    return float(np.corrcoef(one, other)[0, 1])


def predicted(servers: int, mean: float, cv: float, rate: float) -> float:
    """Returns the P99 that is told of a hop."""
    return tail_of(Station("hop", servers, Service(mean, "gamma", cv)), rate).p99


def ran(servers: np.ndarray, means: np.ndarray, cvs: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Returns the P99 of each of some hops, all run at once: who comes takes the server that is free first."""
    drawn, hops = np.random.default_rng(13), np.arange(len(servers))
    free = np.where(np.arange(SERVERS) < servers[:, None], 0.0, np.inf)
    now, times = np.zeros(len(servers)), np.zeros((REQUESTS, len(servers)))
    shapes = 1 / cvs**2
    for number in range(REQUESTS):
        now = now + drawn.exponential(1 / rates)
        first = free.argmin(axis=1)
        begin = np.maximum(free[hops, first], now)
        free[hops, first] = begin + drawn.gamma(shapes, means / shapes)
        times[number] = free[hops, first] - now
    return np.asarray(np.quantile(times[REQUESTS // 20 :], 1 - LATE, axis=0))
