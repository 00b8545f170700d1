"""D, retrieval redundancy: the same thing is computed again while the first answer is still valid.

## What
The same query, embedding or context prefix, computed again within its validity.

## Source
Definitions 1.5, row 3.
"""

from coherence.causal.ledger.states import DeviceState, LossType

LOSS = LossType(
    letter="D",
    name="retrieval redundancy",
    order=3,
    states=(
        DeviceState("repeated_query", "a query answered again within its validity"),
        DeviceState("repeated_embedding", "an embedding computed again within its validity"),
        DeviceState("repeated_prefix", "a context prefix computed again within its validity"),
    ),
    words="the same query, embedding or prefix computed again within its validity",
    source="definitions 1.5: secondary type, retrieval redundancy",
)
