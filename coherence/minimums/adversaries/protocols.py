"""Models of replicas: copies that survive, reads beside writes, and rules that decide from what was heard."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, cast

from coherence.base import solver
from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs, several
from coherence.minimums.consensus import script
from coherence.minimums.floors import Number

PARTS = 4


def copies(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """The leader waits for any set of replicas of which one survives every minority."""
    assert bound
    assert not dropped
    trips = several(inputs, "round_trips")
    waited = [replica for replica in range(1, len(trips) + 1) if choose((False, True))]
    lost = itertools.combinations(range(len(trips) + 1), len(trips) // 2)
    if not all({0, *waited} - set(gone) for gone in lost):
        raise HopelessError
    return max((trips[replica - 1] for replica in waited), default=Fraction(0))


def read_and_written(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Two processes write their own register and read the other's: one must see the other's write."""
    assert bound
    assert not dropped
    delay = Fraction(inputs["delay"])
    write, read = (choose([delay * k / PARTS for k in range(PARTS + 1)]) for _ in range(2))
    heard = delay  # when what the other one sent as it began arrives
    if write + read < heard:
        raise HopelessError  # both read what was there before both writes: no order explains it
    return write + read


def decided(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Some rule maps what is heard in some rounds to decisions; a solver looks for one that is right in all runs."""
    assert bound
    assert not dropped
    count = choose(range(1, int(inputs["failures"]) + 2))
    choose.passed(count * Fraction(inputs["delay"]))
    answer = solver.unsat(script(int(inputs["processes"]), count), timeout_ms=8000)
    if answer.outcome is not solver.Outcome.SAT:
        raise HopelessError
    return count * Fraction(inputs["delay"])


TRIPS = ((10,), (10, 20), (10, 20, 80), (5, 5, 7, 9), (1, 2, 3, 4, 5))
ADVERSARIES = (
    Adversary("copies that survive", {"quorum_latency": tuple({"round_trips": cast("Any", t)} for t in TRIPS)}, copies),
    Adversary("a read beside a write", {"sequential_consistency": ({"delay": Fraction(1)},)}, read_and_written),
    Adversary(
        "rules over what is heard",
        {"agreement_rounds": ({"failures": Fraction(1), "delay": Fraction(1), "processes": Fraction(3)},)},
        decided,
    ),
)
