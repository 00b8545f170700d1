"""B, memory-control friction: memory, classes, batches and slots keep a device from work that is there.

## What
Held: recomputed or swapped cache, waiting for memory, switching class, batch windows, launches, slots with nothing
runnable, work slowed by a neighbour.  Idle: free although eligible work waits (stranded), or kept in reserve above
the floor of square-root staffing.  Misplacement, right work on the wrong device, is of this type as well; it is no
state of a device and stands beside the ledger of states.

## Source
Definitions 1.5, rows 5 and 6.
"""

from coherence.causal.ledger.states import SLOWED, DeviceState, LossType

LOSS = LossType(
    letter="B",
    name="memory-control friction",
    order=5,
    states=(
        DeviceState("recompute", "cache that had been evicted is computed again"),
        DeviceState("swap", "cache moves between memories"),
        DeviceState("memory_wait", "held, waiting for memory"),
        DeviceState("class_switch", "changes from one class of work to another"),
        DeviceState("batch_window", "waits for a batch to fill"),
        DeviceState("launch", "starts a kernel, a container or a model"),
        DeviceState("held_empty", "a held slot with nothing runnable"),
        DeviceState(SLOWED, "useful work beyond the time it needs alone"),
        DeviceState("idle_stranded", "idle while work that this device could run waits", "idle"),
        DeviceState("reserve", "idle reserve above the floor of square-root staffing", "idle"),
    ),
    words="memory, classes, batches and slots keep devices from work that is there",
    source="definitions 1.5: type B, memory-control friction",
)
