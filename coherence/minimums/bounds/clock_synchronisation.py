"""clock synchronisation: how far apart n clocks must stay after any exchange of messages.

## What
If delays are uncertain by u, no protocol brings n clocks closer together than u (1 - 1/n), by shifting.

## Why it matters
Time stamps of several machines order events no finer than this; a lease or a deadline across them needs that margin.

## Example
2 clocks, 1 ms of uncertainty: 0.5 ms.

## Source
J. Lundelius and N. Lynch, "An upper and lower bound for clock synchronization", Information and Control 62, 1984.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend

MOST = 6


def shifting() -> Checked:
    """Checks that no adjustment keeps the clocks closer in all of n runs that look alike to every process (unsat), for
    n = 2 to 6.

    In run k the first k clocks run u = 1 earlier, which delays between d and d + u hide; the adjusted clocks of every
    run must lie within e of each other.
    """
    scripts = [_runs(n) for n in range(2, MOST + 1)]
    answer = solver.unsat(solver.joined(scripts), timeout_ms=5000)
    return Checked(
        answer.unsat, f"closer than u (1 - 1/n) in every shifted run: {answer.outcome}", solver.joined(scripts)
    )


def _runs(n: int) -> str:
    names = [f"c{k}" for k in range(n)]
    lines = ["(set-logic QF_LRA)", "(declare-const e Real)", *(f"(declare-const {c} Real)" for c in names)]
    for k in range(n):
        shown = [f"(- {c} 1.0)" if i < k else c for i, c in enumerate(names)]
        lines += [f"(assert (<= (- {a} {b}) e))" for a in shown for b in shown if a != b]
    return "\n".join([*lines, f"(assert (< e (/ {n - 1}.0 {n}.0)))", "(check-sat)"]) + "\n"


BOUND = Bound(
    name="clock_synchronisation",
    group="consistency",
    quantity="least skew that can be guaranteed",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("uncertainty", "s", "longest minus shortest delay of a message", Trend.RISES, sign="u"),
        Symbol("n", "1", "clocks", Trend.RISES, least=2, whole=True),
    ),
    formula="uncertainty * (1 - 1 / n)",
    assumptions=("reliable_messages", "messages_only", "unicast", "unrelated_delays"),
    source="Lundelius and Lynch 1984",
    examples=(Example({"uncertainty": Fraction(1, 1000), "n": Fraction(2)}, 0.0005, "arithmetic"),),
    proofs=(Recheck("smt", "shifted runs of 2 to 6 clocks", shifting),),
    telemetry=("shortest and longest delay",),
    unread="clock_skew_path is told of the links of a design",
)
