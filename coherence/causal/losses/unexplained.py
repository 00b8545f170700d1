"""U, unexplained: time that the logs do not name, a share of its own.

## What
`hidden`: held, and not useful, for no logged reason.  `unlabelled`: not even known to be held; it counts as held, so
that what is held is never told too small.

## Source
Definitions 1.5, row 7.
"""

from coherence.causal.ledger.states import UNLABELLED, DeviceState, LossType

LOSS = LossType(
    letter="U",
    name="unexplained",
    order=8,
    states=(
        DeviceState("hidden", "held and not useful, for no logged reason", "rest"),
        DeviceState(UNLABELLED, "nothing is logged of this time", "unknown"),
    ),
    words="time that the logs do not name",
    source="definitions 1.5: unexplained, a share of its own",
    structural=False,
)
