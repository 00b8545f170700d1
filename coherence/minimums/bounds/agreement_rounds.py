"""rounds of agreement: how many rounds of messages agreement takes in the worst case when f processes may stop.

## What
In lock step with delay d, no rule decides before f + 1 rounds in all runs: one stop per round can hide a value from the
others until then.  Time: (f + 1) d.

## Why it matters
Each failure that a group must survive costs it one more delay in the worst case.

## Example
One failure, 10 ms per round: 20 ms.

## Source
M. Fischer and N. Lynch, "A lower bound for the time to assure interactive consistency", IPL 14, 1982.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.consensus import Agreement


def few_processes() -> Checked:
    """Plays all runs of two to four processes: no rule is in time with a round fewer, and one is with all."""
    for processes, failures in ((2, 1), (3, 1), (3, 2), (4, 1)):
        least = min(failures + 1, processes - 1)
        possible = [Agreement(processes, failures, failures, rounds).possible() for rounds in (least - 1, least)]
        if possible != [False, True]:
            return Checked(False, f"{processes} processes, {failures} stops: {possible}")
    return Checked(True, "every rule, in all runs of up to four processes")


BOUND = Bound(
    name="agreement_rounds",
    group="consistency",
    quantity="longest time until all have decided",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("failures", "1", "processes that may stop", Trend.RISES, whole=True, sign="f"),
        Symbol("delay", "s", "longest delay of a message", Trend.RISES, sign="d"),
        Symbol("processes", "1", "processes in all", Trend.NEITHER, least=2, whole=True, sign="n"),
    ),
    formula="min(failures + 1, processes - 1) * delay",
    valid="failures < processes",
    assumptions=("crash_faults", "reliable_messages", "silent_crash", "lock_step"),
    source="Fischer and Lynch 1982",
    examples=(
        Example({"failures": Fraction(1), "delay": Fraction(1, 100), "processes": Fraction(3)}, 0.02, "arithmetic"),
        Example({"failures": Fraction(3), "delay": Fraction(1), "processes": Fraction(9)}, 4.0, "arithmetic"),
    ),
    proofs=(Recheck("enumeration", "every rule of a few processes, every run", few_processes),),
    telemetry=("longest delay", "failures to be survived"),
    unread="no key states which processes agree, and how many of them may stop",
)
