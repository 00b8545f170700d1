"""pipeline bubble, interleaved: idle time over ideal time when every device holds v blocks of layers.

## What
With v blocks on each device the fill and drain shrink v times: (p - 1)/(v m) of the ideal time, in this class.

## Why it matters
It is the cost of a chosen schedule, not a floor: other classes idle less, at the price of memory or communication.

## Example
8 stages, 64 micro-batches, 3 blocks: 3.65 %.

## Source
D. Narayanan et al., "Efficient large-scale language model training on GPU clusters", SC 2021, section 2.2.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status, Symbol, Trend

BOUND = Bound(
    name="pipeline_bubble_interleaved",
    group="pipelines",
    quantity="idle time over ideal time",
    unit="1",
    kind=Status.CLASS_COST,
    loss="A",
    symbols=(
        Symbol("p", "1", "stages", Trend.RISES, least=1, whole=True),
        Symbol("m", "1", "micro-batches of a step", Trend.FALLS, least=1, whole=True),
        Symbol("v", "1", "blocks of layers on one device", Trend.FALLS, least=1, whole=True),
    ),
    formula="(p - 1) / (v * m)",
    assumptions=("flush", "unsplit_backward", "balanced", "equal_batches"),
    source="Narayanan et al. 2021",
    examples=(
        Example({"p": Fraction(64), "m": Fraction(512), "v": Fraction(1)}, 0.123046875, "Megatron 1T configuration"),
        Example(
            {"p": Fraction(8), "m": Fraction(64), "v": Fraction(3)}, 0.036458333333333336, "GPT-3 175B configuration"
        ),
    ),
    telemetry=("stages", "micro-batches", "blocks of a device"),
    unread="no key states how many blocks of layers a stage has",
)
