"""model flops utilisation: the share of the peak that the model's own operations use.

## What
Operations of the model done per second over the peak of all units; recomputed operations do not count.

## Why it matters
One less it is everything between a run and its roofline: bubbles, exchange, kernels, failures together.  It is what a
decomposition splits; its denominator is the dense peak of the data sheet.

## Example
400 TFLOP/s of 989: 40.4 %.

## Source
A. Chowdhery et al., "PaLM", 2022, appendix B (definition).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Role, Status, Symbol, Trend

BOUND = Bound(
    name="model_flops_utilization",
    group="roofline",
    quantity="share of the peak that the model uses",
    unit="1",
    kind=Status.EXACT,
    role=Role.POINT,
    loss="none",
    symbols=(
        Symbol("operations", "1", "operations of the model in one step", Trend.RISES, sign="F"),
        Symbol("step", "s", "time of one step", Trend.FALLS, open_=True, sign="t"),
        Symbol("units", "1", "units that compute", Trend.FALLS, least=1, whole=True, sign="G"),
        Symbol("peak", "FLOP/s", "peak rate of one unit", Trend.FALLS, open_=True, sign="R"),
    ),
    formula="operations / (step * units * peak)",
    assumptions=("peak_rates",),
    source="Chowdhery et al. 2022, appendix B",
    examples=(
        Example(
            {"operations": 400e12, "step": Fraction(1), "units": Fraction(1), "peak": 989e12},
            0.4044489383215369,
            "400 of 989 TFLOP/s",
            1e-12,
        ),
    ),
    telemetry=("operations of the model", "step time"),
    unread="it divides a measured rate; compute_time is told of the work of a tier",
)
