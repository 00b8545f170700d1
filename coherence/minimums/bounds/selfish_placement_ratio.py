"""selfish placement: how much longer the last of alike servers works where each job chose its server for itself.

## What
2 m/(m + 1) = 2 - 2/(m + 1) times the best makespan on m servers, once no job has less to wait for elsewhere: the most
loaded server has two jobs, the smaller of them is at most half of its load, and every other server has the rest at
least.  Two jobs of 1 and m (m - 1) of 1/m attain it.  Jobs that draw lots lose more, about log m/log log m.

## Why it matters
It bounds what a scheduler can win over clients that each move to the emptiest server until nobody moves.

## Example
Two servers: 4/3.  Ten: 20/11.

## Source
G. Finn and E. Horowitz, "A linear time approximation algorithm for multiprocessor scheduling", BIT 19, 1979; E.
Koutsoupias and C. Papadimitriou, "Worst-case equilibria", STACS 1999, for the question.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._inductions import refuted


def loaded() -> Checked:
    """Adds up the loads of m servers: c on the first, at least c - w on each other one, with w at most c/2.

    Where the most loaded server has one job, that job is the least makespan.
    """
    one_more = ("(<= (* 2.0 w) c)", "(>= load (- c w))", "(>= sum (+ c (/ (* k c) 2.0)))",
                "(< (+ sum load) (+ c (/ (* (+ k 1.0) c) 2.0)))")  # fmt: skip
    over = "(> (* (+ m 1.0) c) (* 2.0 (* m best)))"
    several = ("(>= m 1.0)", "(> c 0.0)", "(>= sum (+ c (/ (* (- m 1.0) c) 2.0)))", "(>= (* m best) sum)", over)
    alone = ("(>= m 1.0)", "(> c 0.0)", "(>= best c)", over)
    names = ("m", "k", "c", "w", "load", "sum", "best")
    return refuted("the loads of all servers, one by one", "QF_NRA", names, one_more, several, alone)


def settled(inputs: Inputs) -> Fraction:
    """Places two jobs of 1 on one server and m of 1/m on each other one; nobody gains by a move."""
    m = int(inputs["servers"])
    placed = [[Fraction(1)] * min(2, m), *([Fraction(1, m)] * m for _ in range(m - 1))]
    loads = [sum(jobs) for jobs in placed]
    stays = all(load <= other + job for jobs, load in zip(placed, loads, strict=True)
                for k, other in enumerate(loads) if jobs is not placed[k] for job in jobs)  # fmt: skip
    jobs = sorted((job for each in placed for job in each), reverse=True)
    best = [Fraction(0)] * m
    for job in jobs:  # the largest first: attains the mean load here
        best[best.index(min(best))] += job
    return max(loads) / max(best) if stays else Fraction(0)


BOUND = Bound(
    name="selfish_placement_ratio",
    group="selfish decisions",
    quantity="largest ratio of a settled placement's makespan to the best",
    unit="1",
    kind=Status.UPPER,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(Symbol("servers", "1", "alike servers", Trend.RISES, least=1, whole=True, sign="m"),),
    formula="2 * servers / (servers + 1)",
    assumptions=("settled_choices", "equal_servers", "whole_jobs"),
    source="Finn and Horowitz 1979",
    examples=(
        Example({"servers": 2}, 4 / 3, "published: 2 - 2/(m + 1)"),
        Example({"servers": 10}, 20 / 11, "published: 2 - 2/(m + 1)"),
        Example({"servers": 1}, 1.0, "nowhere to move"),
    ),
    proofs=(Recheck("smt", "loads of settled jobs", loaded, ProofGrade.UNIVERSAL),),
    witness=Witness("two large jobs on one server", settled),
    telemetry=("servers",),
    unread="no key states members that place their own jobs",
)
