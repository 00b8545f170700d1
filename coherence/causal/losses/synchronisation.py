"""A, synchronisation: devices are held and wait for other devices.

## What
Time in barriers, collectives and pipeline bubbles, and time that devices of a gang are held until the gang is whole.

## Source
Definitions 1.5, row 4.
"""

from coherence.causal.ledger.states import DeviceState, LossType

LOSS = LossType(
    letter="A",
    name="synchronisation",
    order=4,
    states=(
        DeviceState("barrier", "waits at a barrier for slower members"),
        DeviceState("collective", "in a collective exchange"),
        DeviceState("bubble", "a pipeline stage without a micro-batch"),
        DeviceState("gang", "held until its gang is whole"),
    ),
    words="held devices that wait for other devices",
    source="definitions 1.5: type A, synchronisation",
)
