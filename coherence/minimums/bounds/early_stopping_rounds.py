"""early stopping: how long agreement takes when fewer processes stop than it must survive.

## What
A protocol that survives f stops, and in which nobody sends any more who has decided, needs min(a + 2, f + 1, n - 1)
rounds in some run in which only a processes stop, a <= f.  Who goes on sending may decide sooner: after a + 1 rounds.

## Why it matters
It is what an agreement costs in good times: two rounds without any failure, however many it can survive.

## Example
f = 3, none stops, 10 ms: 20 ms.

## Source
D. Dolev, R. Reischuk and H. R. Strong, "Early stopping in Byzantine agreement", J. ACM 37(4), 1990.  Decisions without
stopping: I. Keidar and S. Rajsbaum, IPL 85(1), 2003 (uniform: a + 2 rounds only for a < f - 1).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.consensus import Agreement


def few_processes() -> Checked:
    """Plays all runs of three processes, and of four with one stop: no rule is done with a round fewer."""
    for n, f, a in ((3, 1, 0), (3, 1, 1), (3, 2, 0), (3, 2, 1), (4, 1, 0)):
        least = min(a + 2, f + 1, n - 1)
        if [Agreement(n, f, a, rounds, silent=True).possible() for rounds in (least - 1, least)] != [False, True]:
            return Checked(False, f"{n} processes, {f} may stop, {a} do")
    return Checked(True, "every rule, in all runs of up to four processes")


BOUND = Bound(
    name="early_stopping_rounds",
    group="consistency",
    quantity="longest time until all have decided and stopped",
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
        "decided_stops",
    ),
    source="Dolev, Reischuk and Strong 1990",
    examples=(
        Example({"failures": 3, "actual": 0, "delay": Fraction(1, 100), "processes": 5}, 0.02, "published"),
        Example({"failures": 3, "actual": 3, "delay": Fraction(1), "processes": 9}, 4.0, "published"),
    ),
    proofs=(Recheck("enumeration", "every rule of a few processes, every run", few_processes),),
    telemetry=(
        "longest delay",
        "failures of a run",
    ),
    unread="no key states which processes agree, and how many of them may stop",
)
