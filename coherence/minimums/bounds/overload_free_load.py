"""load without a lasting overload: the share of capacity above which retries keep an overload up by themselves.

## What
While every try times out each request is sent t times; the queue then shrinks only if rate * t < capacity, that is
below 1/t of the capacity.

## Why it matters
Above it a pause or a burst of the right length leaves a collapse behind that nothing ends (a metastable state).

## Example
4 tries (3 retries): 25 % of the capacity.

## Source
N. Bronson et al., "Metastable failures in distributed systems", HotOS 2021; L. Huang et al., OSDI 2022.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.findings.question_input import rational
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
from coherence.minimums.bounds._retrying import retrying
from coherence.minimums.formulas import number

FORMULA = "1 / tries"
SECONDS = 10_000  # that an overload is followed


def fluid(inputs: Inputs) -> Fraction:
    """Returns the least load, in hundredths of 1/t, from which an overload does not drain, second by second."""
    tries = int(inputs["tries"])
    for step in range(99, 130):
        load = Fraction(step, 100 * tries)
        if not _drains(load * tries):
            return load
    raise AssertionError("no load keeps an overload up")


def _drains(sent: Fraction) -> bool:
    """Returns whether a backlog of 50 s of work goes away while so much is sent per second and one unit is served."""
    backlog = Fraction(50)
    for _ in range(SECONDS):
        backlog += sent - 1
        if backlog < 1:
            return True
    return False


def both_sides() -> Checked:
    """Checks that no load below the formula keeps the backlog from falling, and none at or above it lets it fall:
    unsat.
    """
    scripts = []
    for tries in (1, 2, 3, 4, 8):
        edge = rational(Fraction(number(FORMULA, {"tries": Fraction(tries)})))
        head = f"(set-logic QF_LRA)\n(declare-const load Real)\n(define-fun drift () Real (- (* {tries}.0 load) 1.0))\n"
        scripts += [
            f"{head}(assert (< load {edge}))\n(assert (>= drift 0.0))\n(check-sat)\n",
            f"{head}(assert (>= load {edge}))\n(assert (< drift 0.0))\n(check-sat)\n",
        ]
    script = solver.joined(scripts)
    answer = solver.unsat(script, timeout_ms=2000)
    return Checked(answer.unsat, f"the backlog falls exactly below 1/t, for 1 to 8 tries: {answer.outcome}", script)


def drained() -> Checked:
    """In an overload t loads come for each that would, and one unit is served: below 1/t the backlog is gone after
    B/(1 - t l), at or above it it never falls, at any t, l and time.
    """
    below = ("(>= t 1.0)", "(< (* t l) 1.0)", "(= (* T (- 1.0 (* t l))) B)", "(> (+ B (* T (- (* t l) 1.0))) 0.0)")
    above = ("(>= T 0.0)", "(>= (* t l) 1.0)", "(< (+ B (* T (- (* t l) 1.0))) B)")
    return refuted("a backlog of an overload, over time", "QF_NRA", ("t", "l", "T", "B"), below, above)


BOUND = Bound(
    name="overload_free_load",
    group="retries",
    quantity="share of capacity below which no overload lasts",
    unit="1",
    kind=Status.EXACT,
    role=Role.CEILING,
    loss="B",
    symbols=(Symbol("tries", "1", "tries in all, the first one included", Trend.FALLS, least=1, whole=True, sign="t"),),
    formula=FORMULA,
    assumptions=("abandoned_work_is_served", "same_cause", "fluid", "all_tries_made", "fcfs", "long_queue"),
    source="Bronson et al. 2021",
    examples=(Example({"tries": Fraction(4)}, 0.25, "3 retries, fluid"),),
    proofs=(
        Recheck("smt", "sign of the drift", both_sides, ProofGrade.RELATED),
        Recheck("smt", "the backlog over time", drained, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("a fluid overload, slot by slot", fluid, gap=1.01),
    telemetry=("tries of the callers",),
    applies=retrying,
)
