"""servers for a load: the fewest servers whose queue does not grow for ever.

## What
Work arrives at rate * mean seconds per second; c servers do at most c.  A queue with random arrivals or services stays
finite only if c > rate * mean (regular arrivals of regular work can do with c = rate * mean).

## Why it matters
It is the floor of provisioning; what stands above it is reserve for variability, failures and time scales.

## Example
50 requests/s of 40 ms: 3 servers (2 are busy all the time and fall behind).

## Source
R. M. Loynes, "The stability of a queue", 1962.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.findings.question_input import rational
from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted
from coherence.minimums.bounds._stations import offered

RATE, MEAN = Fraction(50), Fraction(1, 25)


def both_sides() -> Checked:
    """With one server fewer nothing is left for a backlog (unsat); with the bound's number something is (sat)."""

    def script(servers: int) -> str:
        work = rational(RATE * MEAN)
        return (
            "(set-logic QF_LRA)\n(declare-const spare Real)\n"
            f"(assert (= spare (- {servers}.0 {work})))\n(assert (> spare 0.0))\n(check-sat)\n"
        )

    least = int(RATE * MEAN) + 1
    below, at = script(least - 1), script(least)
    holds = solver.unsat(below, timeout_ms=2000).unsat and not solver.unsat(at, timeout_ms=2000).unsat
    return Checked(holds, f"{least - 1} servers leave no capacity for a backlog, {least} do", below)


def falls_behind() -> Checked:
    """c servers do c T seconds of work in T; l m T come: for every B the backlog is above B at some T where c < l m."""
    behind = ("(< c (* l m))", "(> (* T (- (* l m) c)) B)", "(>= left (- (* T (* l m)) (* T c)))", "(<= left B)")
    return refuted("a backlog below a bound, with too few servers", "QF_NRA", ("c", "l", "m", "B", "T", "left"), behind)


BOUND = Bound(
    name="servers_for_load",
    group="queues",
    quantity="fewest servers",
    unit="1",
    kind=Status.THEOREM,
    loss="B",
    symbols=(
        Symbol("rate", "req/s", "arrivals per second", Trend.RISES, sign=r"\lambda"),
        Symbol("mean", "s", "mean time of service", Trend.RISES, sign="m"),
    ),
    formula="floor(rate * mean) + 1",
    assumptions=("poisson", "patient"),
    source="Loynes 1962",
    examples=(Example({"rate": RATE, "mean": MEAN}, 3.0, "arithmetic"),),
    proofs=(
        Recheck("smt", "capacity left for a backlog", both_sides, ProofGrade.RELATED),
        Recheck("smt", "fewer fall behind", falls_behind, ProofGrade.UNIVERSAL),
    ),
    telemetry=("arrivals per second", "mean service time"),
    applies=offered,
)
