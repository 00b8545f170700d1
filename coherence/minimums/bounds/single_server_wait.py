"""Pollaczek and Khinchine: the mean wait at one server for Poisson arrivals and any service law.

## What
load * mean * (1 + cv^2) / (2 (1 - load)), exactly, first come first served.

## Why it matters
It prices variability: a coefficient of variation of 2 waits five times as long as constant service.

## Example
load 0.8, mean 1 s, cv 1: 4 s.

## Source
F. Pollaczek 1930; A. Khinchine 1932.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted
from coherence.minimums.bounds._stations import one_server


def exponential_case() -> Checked:
    """With cv = 1 it is the mean number in M/M/1 (sum of k (1 - rho) rho^k), each of which an arrival waits m for."""
    import sympy as sp

    load, mean = sp.symbols("rho m", positive=True)
    number = (1 - load) * load * sp.diff(1 / (1 - load), load)  # sum of k x^k = x d/dx of the geometric series
    claim = load * mean * 2 / (2 * (1 - load))
    return Checked(sp.simplify(number * mean - claim) == 0, "the exponential case is that of the birth-death chain")


def mean_values() -> Checked:
    """Who comes waits for those before it, and for the rest of who is served: an arrival sees what time shows, the mean
    rest over all time is rate E[S^2]/2, and the mean number that waits is the rate times the wait (Little)."""
    names = ("rate", "mean", "cv", "square", "waiting", "wait")
    claims = (
        "(>= rate 0.0)",
        "(> mean 0.0)",
        "(>= cv 0.0)",
        "(< (* rate mean) 1.0)",
        "(= square (* (* mean mean) (+ 1.0 (* cv cv))))",
        "(= waiting (* rate wait))",
        "(= wait (+ (* waiting mean) (* 0.5 (* rate square))))",
        "(distinct (* 2.0 (* wait (- 1.0 (* rate mean)))) (* rate (* (* mean mean) (+ 1.0 (* cv cv)))))",
    )
    return refuted("who waits, and the rest of who is served", "QF_NRA", names, claims)


BOUND = Bound(
    name="single_server_wait",
    group="queues",
    quantity="mean wait",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("load", "1", "load of the server", Trend.RISES, most=1.0, sign=r"\rho"),
        Symbol("mean", "s", "mean time of service", Trend.RISES, open_=True, sign="m"),
        Symbol("cv", "1", "coefficient of variation of the service time", Trend.RISES),
    ),
    formula="load * mean * (1 + cv * cv) / (2 * (1 - load))",
    valid="load < 1",
    assumptions=("poisson", "fcfs", "work_conserving", "patient", "iid"),
    source="Pollaczek 1930; Khinchine 1932",
    examples=(
        Example({"load": Fraction(4, 5), "mean": Fraction(1), "cv": Fraction(1)}, 4.0, "M/M/1"),
        Example({"load": Fraction(4, 5), "mean": Fraction(1), "cv": Fraction(0)}, 2.0, "M/D/1"),
    ),
    proofs=(
        Recheck("identity", "exponential case", exponential_case, ProofGrade.RELATED),
        Recheck("smt", "mean values of those before it", mean_values, ProofGrade.UNIVERSAL),
    ),
    telemetry=("arrivals per second", "service times"),
    applies=one_server,
)
