"""age of what is sampled at will: the least mean age behind a channel whose times of transmission vary.

## What
T + mean(y) with T = mean(max(T, y)^2)/(2 mean(max(T, y))): a sample is taken only when the newest known one is T old.
To sample as soon as the channel is free is not best: after a quick transmission there is little news to send.

## Why it matters
It is the staleness floor of any sampler that knows when its last sample arrived: of telemetry, of weights that are
handed out, of gradients.

## Example
Transmissions of 0 s and of 2 s in turn by lot: 1.83 s, against 2 s where it never waits.

## Source
Y. Sun, E. Uysal-Biyikoglu, R. Yates, C. Koksal and N. Shroff, "Update or wait: how to keep your data fresh", IEEE
Trans. Inf. Theory 63(11), 2017 (arXiv 1601.02284); W. Dinkelbach 1967 (the ratio).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from coherence.base.errors import UsageError
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
    several,
)

Wait = Callable[[Any], Any]  # time of the last transmission -> time until the next one begins


def threshold(times: Sequence[Any]) -> float:
    """Returns the age at which a sample is taken.  Raises UsageError for no times, or none above zero.

    With m times below it: m T^2 + 2 T (sum of the others) = sum of their squares.
    """
    ordered = sorted(times)
    if not ordered or ordered[0] < 0 or not ordered[-1]:
        raise UsageError("times are of transmissions: at least one, none below zero, and one above it")
    for below in range(len(ordered)):
        rest = ordered[below:]
        total, squares = sum(rest), sum(time * time for time in rest)
        root = squares / (2 * total) if not below else (math.sqrt(total * total + below * squares) - total) / below
        if root <= rest[0]:
            return float(root)
    raise AssertionError("half of the longest time is below it")


def least(inputs: Inputs) -> float:
    """Of the best rule."""
    times = several(inputs, "times")
    return threshold(times) + float(sum(times) / len(times))


def mean_age(times: Sequence[Any], wait: Wait) -> Any:
    """Returns the mean age where a wait follows each transmission: its area over every pair of times in a row."""
    area = length = 0
    for last, after in itertools.product(times, repeat=2):
        spent = wait(last) + after
        area, length = area + spent * last + spent * spent / 2, length + spent
    return area / length


def waited(inputs: Inputs) -> float:
    """Adds up the age under the best rule, transmission by transmission."""
    times = several(inputs, "times")
    best = threshold(times)
    return float(mean_age(times, lambda last: max(best - float(last), 0.0)))


def any_waits() -> Checked:
    """Tries waits on a grid after each of a few times: none has a lower mean age, and one comes near."""
    for times in ((Fraction(0), Fraction(2)), (Fraction(1), Fraction(1)), (Fraction(1), Fraction(2), Fraction(9))):
        floor = threshold(times) + float(sum(times) / len(times))
        grid = [Fraction(k, 8) for k in range(33)]
        ages = [
            mean_age(times, dict(zip(times, waits, strict=True)).__getitem__)
            for waits in itertools.product(grid if len(times) < 3 else grid[::4], repeat=len(times))
        ]
        if min(ages) < floor - 1e-12 or min(ages) > floor * 1.02:
            return Checked(False, f"times {times}: {float(min(ages)):g} against {floor:g}")
    return Checked(True, "waits on a grid after each of two or three times")


BOUND = Bound(
    name="sampled_at_will_age",
    group="limited information",
    quantity="mean age of the newest sample that is known",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(Symbol("times", "s", "times of transmissions, each as likely", Trend.LIST),),
    compute=least,
    assumptions=("iid", "one_at_a_time", "sent_whole", "no_forecast"),
    source="Sun, Uysal-Biyikoglu, Yates, Koksal and Shroff 2017",
    examples=(
        Example({"times": (Fraction(0), Fraction(2))}, 1.8284271247461903, "2 (2^(1/2) - 1) and 1", 1e-12),
        Example({"times": (Fraction(3),)}, 4.5, "a fixed time: never wait"),
    ),
    proofs=(Recheck("enumeration", "waits on a grid", any_waits),),
    witness=Witness("the area under the age, transmission by transmission", waited, 1 + 1e-9),
    telemetry=("times of transmissions",),
    display=(
        r"T + E\left[ \mathrm{times} \right], \quad T = \frac{E\left[ \max(T, \mathrm{times})^2 "
        r"\right]}{2 \, E\left[ \max(T, \mathrm{times}) \right]}"
    ),
    unread="no key states the law of what a transmission takes",
)
