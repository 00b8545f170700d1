"""pipeline bubble, split backward: the bubble of schedule ZB-H1 over that of one forward one backward.

## What
Splitting the backward pass into input gradients (T_B) and weight gradients (T_W) lets weight gradients fill the drain:
of T_F + T_B + T_W per stage only T_F + T_B - T_W stays idle, with the memory of the plain schedule.

## Why it matters
It shows what the assumption `unsplit_backward` buys: with equal parts two thirds of the bubble.

## Example
T_F = T_B = T_W: one third.

## Source
P. Qi et al., "Zero bubble pipeline parallelism", ICLR 2024, table 2.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status, Symbol, Trend

BOUND = Bound(
    name="pipeline_zero_bubble_h1",
    group="pipelines",
    quantity="bubble over the bubble of one forward one backward",
    unit="1",
    kind=Status.CLASS_COST,
    loss="A",
    symbols=(
        Symbol("forward", "s", "forward pass of a stage", Trend.RISES, open_=True, sign="T_F"),
        Symbol("input_gradient", "s", "backward pass for inputs", Trend.RISES, open_=True, sign="T_B"),
        Symbol("weight_gradient", "s", "backward pass for weights", Trend.FALLS, open_=True, sign="T_W"),
    ),
    formula="(forward + input_gradient - weight_gradient) / (forward + input_gradient + weight_gradient)",
    valid="weight_gradient <= forward + input_gradient",
    assumptions=("flush", "no_interleave", "balanced", "equal_batches"),
    source="Qi et al. 2024",
    examples=(
        Example(
            {"forward": Fraction(1), "input_gradient": Fraction(1), "weight_gradient": Fraction(1)},
            1 / 3,
            "the published one third",
        ),
    ),
    telemetry=("times of the three passes",),
    unread="no key states the times of the two parts of a backward pass",
)
