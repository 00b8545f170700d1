"""compute roofline: work takes at least its operations over the peak rate of all units.

## What
F floating point operations on G units of peak rate R take at least F / (G R).

## Why it matters
It is the denominator of every utilisation figure of a training run, and the time that no coordination shortens.

## Example
3.8e25 operations on 16,384 units of 989 TFLOP/s: 27.1 days.

## Source
S. Williams et al., "Roofline", CACM 52(4), 2009; the example is the Llama 3 herd of models, 2024.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import shared_work
from coherence.minimums.bounds._training import computing

BOUND = Bound(
    name="compute_time",
    group="roofline",
    quantity="time of the work",
    unit="s",
    kind=Status.THEOREM,
    loss="none",
    symbols=(
        Symbol("operations", "1", "floating point operations", Trend.RISES, sign="F"),
        Symbol("units", "1", "units that compute", Trend.FALLS, least=1, whole=True, sign="G"),
        Symbol("peak", "FLOP/s", "peak rate of one unit", Trend.FALLS, open_=True, sign="R"),
    ),
    formula="operations / (units * peak)",
    assumptions=(
        "peak_rates",
        "stated_precision",
    ),
    source="Williams et al. 2009",
    examples=(
        Example(
            {"operations": Fraction(38 * 10**24), "units": Fraction(16384), "peak": Fraction(989 * 10**12)},
            27.142736039724 * 86400,
            "Llama 3 405B: 3.8e25 operations on 16,384 H100",
            1e-6,
        ),
    ),
    proofs=(Recheck("smt", "what units do together in a time", shared_work, ProofGrade.UNIVERSAL),),
    telemetry=("operations of the model", "units"),
    applies=computing,
)
