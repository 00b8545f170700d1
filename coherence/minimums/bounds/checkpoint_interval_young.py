"""checkpoint interval, first order: sqrt(2 d M), the interval that Young's model loses least at.

## What
To first order in d/M the time lost per second of work is d/T + T/(2 M), least at T = sqrt(2 d M).

## Why it matters
It is in wide use.  It is a choice, no floor: the exact optimum is shorter, and the loss there smaller.

## Example
d = 30 s, M = 11,134.8 s: 817.4 s (exact: 797.5 s).

## Source
J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Role, Status, Symbol, Trend


def stationary() -> Checked:
    """d/T + T/(2 M) has its only stationary point there, and it is a minimum."""
    import sympy as sp

    interval, write, mean = sp.symbols("T d M", positive=True)
    loss = write / interval + interval / (2 * mean)
    best = sp.sqrt(2 * write * mean)
    flat = sp.simplify(sp.diff(loss, interval).subs(interval, best)) == 0
    return Checked(bool(flat and sp.diff(loss, interval, 2).is_positive), "the only minimum of d/T + T/(2 M)")


BOUND = Bound(
    name="checkpoint_interval_young",
    group="checkpoints",
    quantity="work between two checkpoints, first order",
    unit="s",
    kind=Status.CLASS_COST,
    role=Role.POINT,
    loss="R",
    symbols=(
        Symbol("write", "s", "time to write one checkpoint", Trend.RISES, open_=True, sign="d"),
        Symbol("mtbf", "s", "mean time between failures of the whole job", Trend.RISES, open_=True, sign="M"),
    ),
    formula="sqrt(2 * write * mtbf)",
    assumptions=("exponential", "full_recompute", "blocking_checkpoint"),
    source="Young 1974",
    examples=(Example({"write": 30, "mtbf": 11134.8}, 817.3665028614764, "arithmetic"),),
    proofs=(Recheck("identity", "minimum of the first-order loss", stationary),),
    telemetry=("time of a checkpoint", "times of failures"),
    unread="checkpoint_interval_exact is told instead",
)
