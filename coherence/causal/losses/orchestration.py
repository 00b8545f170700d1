"""C, orchestration: devices work on what no later accepted step reads.

## What
Branches of a plan that were abandoned, results of tools that nobody used, steps that were planned again.

## What it is not
Repeated lookups within their validity (D), and attempts repeated after a failure (R, which comes first).

## Source
Definitions 1.5, row 2.
"""

from coherence.causal.ledger.states import DeviceState, LossType

LOSS = LossType(
    letter="C",
    name="orchestration",
    order=2,
    states=(
        DeviceState("abandoned_branch", "a branch whose output no accepted step read"),
        DeviceState("unused_result", "a tool's result that no accepted step read"),
        DeviceState("replanned", "a step that was planned again"),
    ),
    words="work whose output no later accepted step read",
    source="definitions 1.5: type C, orchestration",
)
