"""Inaccessible capacity: eight racks of four devices; half compute prompts, half answers, and what passes goes up.

A placement says which devices do which.  What it reaches is the largest flow that a linear program attains and prices
prove; throughput is that with 3 % of noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial

import numpy as np

from coherence.causal.signatures.inaccessible import inaccessible
from coherence.causal.signatures.signature import Signature
from coherence.exploring.experiments.experiment import Chance, Experiment, PowerCurve
from coherence.minimums.fabric.concurrent_flow import Demand, concurrent
from coherence.minimums.fabric.wiring import Fabric, leaf_spine

RACKS, HOSTS, UP, HOST = 8, 4, 1, 4  # rates of a rack's uplink and of a device
PLACEMENTS, RUNS, NOISE, DRAWN = 8, 6, 0.03, 40


@cache
def racks() -> Fabric:
    """Returns the racks under one spine."""
    return leaf_spine(RACKS, HOSTS, 1, HOST, UP)


def demands(prompts: Sequence[int]) -> tuple[Demand, ...]:
    """Returns one unit from each device for prompts to one for answers, in its rack where there is one."""
    first = {rack: [k for k in prompts if k // HOSTS == rack] for rack in range(RACKS)}
    other = {rack: [k for k in range(rack * HOSTS, (rack + 1) * HOSTS) if k not in prompts] for rack in range(RACKS)}
    pairs = [(first[rack].pop(), other[rack].pop()) for rack in range(RACKS) for _ in range(_both(first, other, rack))]
    left = [[k for own in sides.values() for k in own] for sides in (first, other)]
    return tuple((_host(a), _host(b), Fraction(1)) for a, b in (*pairs, *zip(*left, strict=True)))


def _both(first: dict[int, list[int]], other: dict[int, list[int]], rack: int) -> int:
    return min(len(first[rack]), len(other[rack]))


def _host(number: int) -> str:
    return f"h{number // HOSTS}.{number % HOSTS}"


@cache
def reached() -> tuple[float, ...]:
    """Returns what each of some drawn placements reaches, in requests of all pairs together."""
    chance = np.random.default_rng(7)
    drawn = [sorted(chance.permutation(RACKS * HOSTS)[: RACKS * HOSTS // 2].tolist()) for _ in range(DRAWN)]
    return tuple(float(1 / concurrent(racks(), demands(prompts)).most) for prompts in drawn)


def spread(chance: Chance, size: float) -> Signature:
    """Returns what the test answers on placements whose throughputs have such a spread, of their mean."""
    ways = 1 + size * chance.standard_normal(PLACEMENTS)
    return inaccessible([way * (1 + NOISE * chance.standard_normal(RUNS)) for way in ways])


def answered(chance: Chance, *, bottleneck: bool) -> Signature:
    """Returns what the test answers on eight placements, six runs each."""
    ways = [1.0] * PLACEMENTS if bottleneck else chance.choice(reached(), PLACEMENTS, replace=False).tolist()
    return inaccessible([way * (1 + NOISE * chance.standard_normal(RUNS)) for way in ways])


EXPERIMENT = Experiment(
    "3 inaccessible capacity",
    "Throughput does not grow in proportion to resources. Nor does it at one saturated link that all share: that "
    "throughput depends on the placement tells the two apart.",
    __doc__ or "",
    {"one link that all placements share": lambda chance: answered(chance, bottleneck=True)},
    {"split placements": lambda chance: answered(chance, bottleneck=False)},
    (
        PowerCurve(
            "placements",
            "spread of their throughputs",
            (0, 0.01, 0.02, 0.03, 0.05),
            lambda size: partial(spread, size=size),
        ),
    ),
)
