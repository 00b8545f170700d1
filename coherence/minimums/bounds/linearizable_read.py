"""linearizable read: how long a read of a register takes in the worst case when delays are uncertain.

## What
With delays between d - u and d and clocks that nothing but messages sets, some read takes u/4 or more, whatever the
other operation costs.

## Why it matters
Sequential consistency allows reads, or writes, that return at once; linearizability does so only where the clocks agree
exactly, or where one process alone reads or writes.

## Example
u = 20 ms: 5 ms.

## Source
H. Attiya and J. Welch, "Sequential consistency versus linearizability", ACM TOCS 12(2), 1994.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Quantifier, Status, Symbol, Trend

BOUND = Bound(
    name="linearizable_read",
    group="consistency",
    quantity="longest time of a linearizable read",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("uncertainty", "s", "longest minus shortest delay of a message", Trend.RISES, sign="u"),),
    formula="uncertainty / 4",
    assumptions=(
        "reliable_messages",
        "messages_only",
        "unrelated_delays",
        "several_users",
    ),
    source="Attiya and Welch 1994",
    examples=(Example({"uncertainty": Fraction(1, 50)}, 0.005, "arithmetic"),),
    telemetry=("shortest and longest delay",),
)
