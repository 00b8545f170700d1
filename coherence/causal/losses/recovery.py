"""R, recovery amplification: devices work on what a retry, a rollback or a restart made worthless, or does again.

## What
Time of attempts that were superseded, timed out, cancelled or rolled back although the result of the work was used,
and time of checkpoints, restarts and replays.

## What it is not
The capacity that switching recovery off would win: that is a counterfactual (`recovery`), and may be more.

## Source
Definitions 1.5, row 1.
"""

from coherence.causal.ledger.states import DeviceState, LossType

LOSS = LossType(
    letter="R",
    name="recovery amplification",
    order=1,
    states=(
        DeviceState("superseded", "an attempt whose work another attempt delivered"),
        DeviceState("timed_out", "an attempt that went on after its caller had left"),
        DeviceState("cancelled", "an attempt that was cancelled before its end"),
        DeviceState("rolled_back", "work that was undone"),
        DeviceState("checkpoint", "state written so that a failure costs less"),
        DeviceState("restart", "a failed job that comes up again"),
        DeviceState("replay", "work since the last checkpoint, done again"),
    ),
    words="work that recovery from failures makes worthless or repeats",
    source="definitions 1.5: secondary type, recovery amplification",
)
