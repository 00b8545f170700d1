"""O, not structural: time lost to what no coordination of control loops could win back.

## What
Waiting for input data, and hardware that throttles itself.

## Source
Definitions 1.5, row 7.
"""

from coherence.causal.ledger.states import DeviceState, LossType

LOSS = LossType(
    letter="O",
    name="not structural",
    order=7,
    states=(
        DeviceState("data_pipeline", "waits for input data"),
        DeviceState("hardware_throttle", "slowed by its power or temperature limit"),
    ),
    words="data pipelines and hardware throttling",
    source="definitions 1.5: not structural",
    structural=False,
)
