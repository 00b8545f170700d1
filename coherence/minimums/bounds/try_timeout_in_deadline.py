"""timeout within a deadline: the longest time-out of a try with which all tries fit a deadline.

## What
t tries of T each and t - 1 pauses of at least b fit D only if T <= (D - (t - 1) b)/t.

## Why it matters
A longer time-out makes the last tries dead letters of the configuration: they are never made.

## Example
D = 1 s, 3 tries, pauses of 100 ms: 266.7 ms.

## Source
Linear feasibility.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Recheck,
    Role,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._inductions import refuted
from coherence.minimums.bounds._retrying import deadlines

TRIES = 5


def solved() -> Checked:
    """Checks that no T above the formula fits, for every D and b (unsat); the formula itself fits (sat)."""
    formula = f"(/ (- D (* {TRIES - 1}.0 b)) {TRIES}.0)"
    head = "(set-logic QF_LRA)\n(declare-const D Real)\n(declare-const b Real)\n(declare-const T Real)\n"
    head += "(assert (>= b 0.0))\n"
    fits = f"(assert (<= (+ (* {TRIES}.0 T) (* {TRIES - 1}.0 b)) D))\n"
    above, at = (f"{head}{fits}(assert ({op} T {formula}))\n(check-sat)\n" for op in (">", "="))
    holds = solver.unsat(above, timeout_ms=2000).unsat and not solver.unsat(at, timeout_ms=2000).unsat
    return Checked(holds, f"{TRIES} tries: above the formula unsat, at it sat", above)


def laid_out() -> Checked:
    """The k-th try begins no sooner than (k - 1) (T + b) (induction), and the t-th ends T later: above D where t T is
    above D - (t - 1) b; at the formula it ends at D where pauses are shortest.
    """
    step = ("(>= begun (* (- k 1.0) (+ T b)))", "(>= after (+ begun (+ T b)))", "(< after (* k (+ T b)))")
    late = ("(>= t 1.0)", "(>= begun (* (- t 1.0) (+ T b)))", "(> (* t T) (- D (* (- t 1.0) b)))", "(<= (+ begun T) D)")
    fits = ("(>= t 1.0)", "(= begun (* (- t 1.0) (+ T b)))", "(= (* t T) (- D (* (- t 1.0) b)))", "(> (+ begun T) D)")
    return refuted("try after try, and the last one", "QF_NRA", ("t", "k", "T", "b", "D", "begun", "after"), step, late,
                   fits)  # fmt: skip


def schedule(inputs: Inputs) -> Fraction | float:
    """Runs tries and pauses laid out one after the other: the time-out that ends the last one at the deadline."""
    tries, left = int(inputs["tries"]), inputs["deadline"]
    for _ in range(tries - 1):
        left -= inputs["pause"]
    return left / tries


BOUND = Bound(
    name="try_timeout_in_deadline",
    group="retries",
    quantity="longest time-out of a try",
    unit="s",
    kind=Status.TIGHT,
    role=Role.CEILING,
    loss="B",
    symbols=(
        Symbol("deadline", "s", "deadline of the whole call", Trend.RISES, open_=True, sign="D"),
        Symbol("tries", "1", "tries in all", Trend.FALLS, least=1, whole=True, sign="t"),
        Symbol("pause", "s", "shortest pause between two tries", Trend.FALLS, sign="b"),
    ),
    formula="(deadline - (tries - 1) * pause) / tries",
    valid="deadline > (tries - 1) * pause",
    assumptions=("one_try_at_a_time",),
    source="linear feasibility",
    examples=(
        Example({"deadline": Fraction(1), "tries": Fraction(3), "pause": Fraction(1, 10)}, 4 / 15, "z3"),
        Example({"deadline": Fraction(1), "tries": Fraction(4), "pause": Fraction(1, 20)}, 0.2125, "arithmetic"),
    ),
    proofs=(
        Recheck("smt", "nothing above it fits", solved),
        Recheck("smt", "tries one after the other", laid_out, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("tries laid out in time", schedule),
    telemetry=(),
    applies=deadlines,
)
