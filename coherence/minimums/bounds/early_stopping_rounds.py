"""early stopping: how long agreement takes when fewer processes stop than it must survive.

## What
A protocol that survives f stops needs min(a + 2, f + 1, n - 1) rounds
in some run in which only a processes stop, a <= f.

## Why it matters
It is what an agreement costs in good times: two rounds without any failure, however many it can survive.

## Example
f = 3, none stops, 10 ms: 20 ms.

## Source
D. Dolev, R. Reischuk and H. R. Strong, "Early stopping in Byzantine agreement", J. ACM 37(4), 1990.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Quantifier, Status, Symbol, Trend

BOUND = Bound(
    name="early_stopping_rounds",
    group="consistency",
    quantity="longest time until all have decided and know it",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("failures", "1", "processes that may stop", Trend.RISES, whole=True, sign="f"),
        Symbol("actual", "1", "processes that do stop", Trend.RISES, whole=True, sign="a"),
        Symbol("delay", "s", "longest delay of a message", Trend.RISES, sign="d"),
        Symbol("processes", "1", "processes in all", Trend.RISES, least=2, whole=True, sign="n"),
    ),
    formula="min(actual + 2, failures + 1, processes - 1) * delay",
    valid="actual <= failures and failures < processes",
    assumptions=(
        "crash_faults",
        "reliable_messages",
        "silent_crash",
        "lock_step",
    ),
    source="Dolev, Reischuk and Strong 1990",
    examples=(
        Example({"failures": 3, "actual": 0, "delay": Fraction(1, 100), "processes": 5}, 0.02, "published"),
        Example({"failures": 3, "actual": 3, "delay": Fraction(1), "processes": 9}, 4.0, "published"),
    ),
    telemetry=(
        "longest delay",
        "failures of a run",
    ),
)
