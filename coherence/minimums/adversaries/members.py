"""Models of barriers: members whose times follow a law, and members that walk through a table of steps."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser
from coherence.minimums.bound import Inputs, several
from coherence.minimums.floors import Number

POINTS = 20_000  # of a law, each as likely


def slowest(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """The times of a law, each as likely; the last of some members, drawn apart, is one of them by its place."""
    n, sigma = int(inputs["n"]), float(inputs["sigma"])
    together = "iid" in dropped and choose((False, True))
    other = bound.removeprefix("barrier_") in dropped and choose((False, True))
    later = choose((0.0, 0.1))  # a member may also wait before it begins
    law = NormalDist()
    places = [(k + 0.5) / POINTS for k in range(POINTS)]
    draws = [math.copysign(1.0, place - 0.5) if other else law.inv_cdf(place) for place in places]
    grown = bound == "barrier_lognormal"
    times = [math.exp(sigma * draw) if grown else float(inputs["mean"]) + sigma * draw for draw in draws]
    share = math.fsum(times) / POINTS if grown else 1.0
    if together:
        return math.fsum(times) / POINTS / share + later
    chances = (((k + 1) / POINTS) ** n - (k / POINTS) ** n for k in range(POINTS))
    # each place stands for all of its cell: by the next one, at most
    later_times = [*times[1:], times[-1]]
    return math.fsum(chance * time for chance, time in zip(chances, later_times, strict=True)) / share + later


def stepped(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Members walk through the steps and stand at each barrier until the last one is there."""
    assert bound
    rows = [list(row) for row in several(inputs, "durations")]
    if "own_time_unchanged" in dropped:  # the last one's work goes to the first
        rows = [[Fraction(sum(row), len(row))] * len(row) if choose((False, True)) else row for row in rows]
    clock, worked = [Fraction(0)] * len(rows[0]), Fraction(0)
    for row in rows:
        waits = choose((Fraction(0), Fraction(1)))  # before the first member begins
        clock = [now + own for now, own in zip(clock, [row[0] + waits, *row[1:]], strict=True)]
        worked += sum(row, Fraction(0))
        if "barrier_each_step" not in dropped:
            clock = [max(clock)] * len(clock)
    return 1 - worked / (max(clock) * len(clock)) if max(clock) else Fraction(0)


TABLES = (((1, 3), (3, 1)), ((2, 2, 2),), ((5,), (7,)), ((1, 2, 4), (4, 1, 1), (2, 2, 3)))
ADVERSARIES = (
    Adversary(
        "the slowest of a law",
        {
            "barrier_normal": tuple({"n": Fraction(n), "mean": Fraction(5), "sigma": Fraction(1)} for n in (1, 2, 20)),
            "barrier_lognormal": tuple({"n": Fraction(n), "sigma": Fraction(1, 2)} for n in (1, 2, 20)),
        },
        slowest,
        ("iid", "normal", "lognormal"),
    ),
    Adversary(
        "members that walk through steps",
        {"barrier_trace": tuple({"durations": cast("Any", table)} for table in TABLES)},
        stepped,
        ("own_time_unchanged", "barrier_each_step"),
    ),
)
