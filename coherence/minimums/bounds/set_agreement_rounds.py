"""set agreement: how long it takes until at most k values are left, when f processes may stop.

## What
floor(f / k) + 1 rounds of n >= f + k + 1 processes: in each round k stops can hide one value each.  (With fewer
processes some rules are done sooner.)

## Why it matters
Leaving k values instead of one (k shards, k leaders) buys time by that factor and not more.

## Example
f = 4, k = 2, 10 ms: 30 ms.

## Source
S. Chaudhuri, M. Herlihy, N. Lynch and M. Tuttle, "Tight bounds for k-set agreement", J. ACM 47(5), 2000.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.consensus import one_round


def five_processes() -> Checked:
    """Five processes of which two may stop: no rule leaves two values after one round (unsat); four have one (sat)."""
    text = one_round(5, 2, 2)
    lost = solver.unsat(text, timeout_ms=30_000).unsat
    allowed = solver.unsat(one_round(4, 2, 2), timeout_ms=30_000).outcome is solver.Outcome.SAT
    return Checked(lost and allowed, "one round, two stops, two values: unsat for five processes, sat for four", text)


BOUND = Bound(
    name="set_agreement_rounds",
    group="consistency",
    quantity="longest time until few enough values are left",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("failures", "1", "processes that may stop", Trend.RISES, whole=True, sign="f"),
        Symbol("values", "1", "values that may be left", Trend.FALLS, least=1, whole=True, sign="k"),
        Symbol("delay", "s", "longest delay of a message", Trend.RISES, sign="d"),
        Symbol("processes", "1", "processes in all", Trend.RISES, least=2, whole=True, sign="n"),
    ),
    formula="min(floor(failures / values) + 1, processes) * delay",
    valid="failures + values < processes",
    assumptions=(
        "crash_faults",
        "reliable_messages",
        "silent_crash",
        "lock_step",
    ),
    source="Chaudhuri, Herlihy, Lynch and Tuttle 2000",
    examples=(
        Example({"failures": 4, "values": 2, "delay": Fraction(1, 100), "processes": 9}, 0.03, "published"),
        Example({"failures": 3, "values": 1, "delay": Fraction(1), "processes": 9}, 4.0, "rounds of agreement"),
    ),
    proofs=(Recheck("smt", "one round of five processes, every run", five_processes),),
    telemetry=("longest delay",),
    unread="no key states which processes agree, and how many of them may stop",
)
