"""data rate, continuous: the bits per second without which an unstable plant cannot be held.

## What
The sum of the unstable poles (1/s) over log 2: between samples of period h the state grows by exp(p h), and
log2(exp(p h))/h does not depend on h.

## Why it matters
It is the floor of the telemetry rate of anything that runs away by itself: a queue above saturation, a thermal runaway,
retries that feed themselves.

## Example
A pole at 0.5 /s: 0.72 bit/s.

## Source
G. Nair and R. Evans, SIAM J. Control Optim. 43, 2004.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Recheck,
    Status,
    Symbol,
    Trend,
    several,
)


def rate(inputs: Inputs) -> float:
    """Returns bytes per second, the SI unit of data here; 8 times that in bits."""
    poles = [complex(pole).real for pole in several(inputs, "poles")]
    if not all(map(math.isfinite, poles)):
        raise UsageError("poles of data_rate_continuous are finite numbers")
    return math.fsum(pole for pole in poles if pole > 0) / math.log(2) / 8


def any_period() -> Checked:
    """log(exp(p h))/log(2)/h = p/log 2 for every sampling period h, by sympy."""
    import sympy as sp

    p, h = sp.symbols("p h", positive=True)
    difference = sp.simplify(sp.expand_log(sp.log(sp.exp(p * h))) / sp.log(2) / h - p / sp.log(2))
    return Checked(difference == 0, "the sampled floor per second is the same for every period")


BOUND = Bound(
    name="data_rate_continuous",
    group="limited information",
    quantity="least feedback",
    unit="bit/s",
    kind=Status.THEOREM,
    loss="B",
    symbols=(Symbol("poles", "rad/s", "poles of the plant", Trend.LIST, sign="p"),),
    compute=rate,
    assumptions=("linear_plant", "uniform_samples"),
    source="Nair and Evans 2004",
    examples=(
        Example({"poles": (Fraction(1, 2),)}, 0.7213475204444817 / 8, "limit of the sampled floor"),
        Example({"poles": (Fraction(1, 2), -3, Fraction(1, 4))}, 0.75 / math.log(2) / 8, "arithmetic"),
    ),
    proofs=(Recheck("identity", "every sampling period", any_period, ProofGrade.RELATED),),
    telemetry=("bits of a reading", "period of readings"),
    display=r"\frac{1}{\ln 2} \sum_{p_i > 0} p_i",
    unread="no key states how many bits a reading tells; lost_readings is told of a state that runs away",
)
