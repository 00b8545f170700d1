"""price of anarchy: how much worse selfish routing can be than the best routing.

## What
With latencies that grow like load^d on some paths, selfish users lose at most 1/(1 - d (d + 1)^(-(d+1)/d)) times the
best total latency; two parallel paths attain it.  Affine latencies (d = 1): 4/3.

## Why it matters
It bounds what central assignment can win where each client picks the endpoint that looks fastest to it.

## Example
d = 1: 4/3.

## Source
T. Roughgarden and E. Tardos, "How bad is selfish routing?", JACM 49, 2002; Roughgarden 2003 for powers.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)


def pigou(inputs: Inputs) -> float:
    """Two paths of latency 1 and x^d: all take the second (total 1), the best split takes less."""
    d = float(inputs["degree"])
    x = math.pow(d + 1, -1 / d)  # least x^(d+1) + 1 - x
    return 1 / (math.pow(x, d + 1) + 1 - x)


def affine() -> Checked:
    """Checks that the least of x^2 + (1 - x) is 3/4, by sympy: the ratio of Pigou's example is 4/3."""
    import sympy as sp

    x = sp.symbols("x", real=True)
    total = x**2 + 1 - x
    (at,) = sp.solve(sp.diff(total, x), x)
    return Checked(
        total.subs(x, at) == sp.Rational(3, 4) and sp.diff(total, x, 2) > 0, "least total latency 3/4 against 1"
    )


BOUND = Bound(
    name="price_of_anarchy",
    group="selfish decisions",
    quantity="largest ratio of selfish to best total latency",
    unit="1",
    kind=Status.UPPER,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(Symbol("degree", "1", "power of load with which latency grows", Trend.RISES, open_=True, sign="d"),),
    formula="1 / (1 - degree * power(degree + 1, -(degree + 1) / degree))",
    assumptions=("selfish_routing",),
    source="Roughgarden and Tardos 2002",
    examples=(Example({"degree": Fraction(1)}, 4 / 3, "Pigou"),),
    proofs=(Recheck("identity", "Pigou's example", affine, ProofGrade.RELATED),),
    witness=Witness("Pigou's two paths", pigou),
    telemetry=(),
    unread="no key states latencies that grow with load as a power of it",
)
