"""A, synchronisation: devices are held and wait for other devices.

## What
Time in barriers, collectives and pipeline bubbles, and time that devices of a gang are held until the gang is whole.

## Source
Definitions 1.5, row 4.
"""

from coherence.causal.ledger.states import Loss, State

LOSS = Loss(
    letter="A",
    name="synchronisation",
    order=4,
    states=(
        State("barrier", "waits at a barrier for slower members"),
        State("collective", "in a collective exchange"),
        State("bubble", "a pipeline stage without a micro-batch"),
        State("gang", "held until its gang is whole"),
    ),
    words="held devices that wait for other devices",
    source="definitions 1.5: type A, synchronisation",
)
