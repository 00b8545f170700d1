"""checkpoint interval, higher order: Daly's series for the interval that loses least.

## What
sqrt(2 d M) (1 + sqrt(d/(2 M))/3 + d/(18 M)) - d for d < 2 M: the first terms of the exact optimum in sqrt(d/(2 M)).

## Why it matters
It is the formula in use where Lambert's W is not at hand; it is within a thousandth of the optimum for d << M.

## Example
d = 30 s, M = 11,134.8 s: 797.4888 s (exact: 797.4900 s).

## Source
J. Daly, "A higher order estimate of the optimum checkpoint interval", FGCS 22, 2006, equation 37.
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Role, Status, Symbol, Trend

TERMS = 4


def series() -> Checked:
    """Put into the exact condition, the formula leaves a rest of order x^5 (x = sqrt(d/(2 M))): its terms are right.

    The exact optimum T = M (1 - v) has d = M (v - 1 - log v); with M = 1 and d = 2 x^2 the condition is
    1 - T + log(1 - T) ... written as g(T) = -T - log(1 - T) - 2 x^2 = 0.
    """
    import sympy as sp

    x = sp.symbols("x", positive=True)
    daly = 2 * x * (1 + x / 3 + x**2 / 9) - 2 * x**2
    rest = sp.series(-daly - sp.log(1 - daly) - 2 * x**2, x, 0, TERMS + 1).removeO()
    return Checked(sp.expand(rest) == 0, f"no term up to x^{TERMS} is left in the exact condition")


BOUND = Bound(
    name="checkpoint_interval_daly",
    group="checkpoints",
    quantity="work between two checkpoints, higher order",
    unit="s",
    kind=Status.CLASS_COST,
    role=Role.POINT,
    loss="R",
    symbols=(
        Symbol("write", "s", "time to write one checkpoint", Trend.NEITHER, open_=True, sign="d"),
        Symbol("mtbf", "s", "mean time between failures of the whole job", Trend.RISES, open_=True, sign="M"),
    ),
    formula="sqrt(2 * write * mtbf) * (1 + sqrt(write / (2 * mtbf)) / 3 + write / (18 * mtbf)) - write",
    valid="write < 2 * mtbf",
    assumptions=("exponential", "full_recompute", "blocking_checkpoint"),
    source="Daly 2006",
    examples=(Example({"write": 30, "mtbf": 11134.8}, 797.488846999204, "published formula"),),
    proofs=(Recheck("identity", "series of the exact optimum", series),),
    telemetry=("time of a checkpoint", "times of failures"),
    unread="checkpoint_interval_exact is told instead",
)
