"""Runs tests of two laws exactly: all stopping rules of a few coin tosses, Wald's walk, and Page's test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.bisection import halved

Rule = tuple[float, float, float]  # mean samples under the second law, P(second | first), P(first | second)


def binary_divergence(p: float, q: float) -> float:
    """Returns d(p || q) of two coins, in nats."""
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def rules(horizon: int, first: Fraction, second: Fraction) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """Yields every stopping rule of at most `horizon` tosses: (mean tosses under `second`, P(says second | first),
    P(says first | second)); `first` and `second` are the chances of heads."""
    yield Fraction(0), Fraction(1), Fraction(0)  # stops and says: the second law
    yield Fraction(0), Fraction(0), Fraction(1)
    if horizon:
        inner = list(rules(horizon - 1, first, second))
        for n1, a1, b1 in inner:
            for n0, a0, b0 in inner:
                yield (
                    1 + second * n1 + (1 - second) * n0,
                    first * a1 + (1 - first) * a0,
                    second * b1 + (1 - second) * b0,
                )


def ratio_of(information: float) -> float:
    """Returns r > 1 with (r - 1)/(r + 1) log r = information: the odds of a coin that carries as much."""

    def less(odds: float) -> bool:
        return (odds - 1) / (odds + 1) * math.log(odds) < information

    high = 2.0
    while less(high):
        high *= 2
    return halved(less, 1.0, high)[1]


def wald_walk(up: int, down: int, odds: float) -> float:
    """Returns mean tosses of a coin of these odds until `up` more heads or `down` more tails, by the linear
    equations."""
    p = odds / (1 + odds)
    # u[i] = 1 + p u[i+1] + (1 - p) u[i-1], u = 0 at both ends: eliminated from the lower end, u[i] = a[i] u[i+1] + b[i]
    a, b = [0.0], [0.0]
    for _ in range(1, up + down):
        scale = 1 - (1 - p) * a[-1]
        a, b = [*a, p / scale], [*b, (1 + (1 - p) * b[-1]) / scale]
    mean = 0.0
    for i in range(up + down - 1, down - 1, -1):
        mean = a[i] * mean + b[i]
    return mean


def page_threshold(information: float, false_alarms: float) -> float:
    """Returns h with exp(h) - h - 1 = information * false_alarms: the height of Page's Brownian test."""
    wanted = information * false_alarms

    def less(height: float) -> bool:
        return math.expm1(height) - height < wanted

    high = 1.0
    while less(high):
        high *= 2
    return sum(halved(less, 0.0, high)) / 2
