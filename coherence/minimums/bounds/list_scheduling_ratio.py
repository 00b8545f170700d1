"""list scheduling: how much later work ends that goes to whichever server is free, than in the best plan.

## What
(2 m - 1)/m = 2 - 1/m times the best makespan on m alike servers, in whatever order jobs come: when the last job to
end began, every server was busy, and that job alone takes no longer than the best plan.  m (m - 1) jobs of 1 and then
one of m attain it.

## Why it matters
It bounds what knowing all jobs in advance can win over a dispatcher that leaves no server idle beside waiting work.

## Example
Two servers: 3/2.  Eight: 15/8.

## Source
R. Graham, "Bounds for certain multiprocessing anomalies", Bell System Technical Journal 45, 1966.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
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


def busy() -> Checked:
    """Adds up the work before the last job's start s on m servers, one by one, and weighs it with that job's length."""
    one_more = ("(>= done (* k s))", "(>= more s)", "(< (+ done more) (* (+ k 1.0) s))")
    over = ("(>= m 1.0)", "(>= done (* m s))", "(>= (* m best) (+ done last))", "(>= best last)",
            "(> (* m (+ s last)) (* (- (* 2.0 m) 1.0) best))")  # fmt: skip
    names = ("m", "k", "s", "last", "done", "more", "best")
    return refuted("all servers are busy until the last job begins", "QF_NRA", names, one_more, over)


def makespan(jobs: Sequence[int], servers: int) -> int:
    """Returns when the last job ends if each goes, in the given order, to the server that is free first."""
    free = [0] * servers
    for job in jobs:
        heapq.heapreplace(free, free[0] + job)
    return max(free)


def in_turn(inputs: Inputs) -> Fraction:
    """Runs m (m - 1) jobs of 1 and then one of m; in the best plan that job has a server of its own, for m."""
    m = int(inputs["servers"])
    jobs = [1] * (m * (m - 1)) + [m]
    return Fraction(makespan(jobs, m), makespan(jobs[::-1], m))


BOUND = Bound(
    name="list_scheduling_ratio",
    group="online decisions",
    quantity="largest ratio of a list schedule's makespan to the best",
    unit="1",
    kind=Status.UPPER,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(Symbol("servers", "1", "alike servers", Trend.RISES, least=1, whole=True, sign="m"),),
    formula="2 - 1 / servers",
    assumptions=("work_conserving", "equal_servers", "whole_jobs", "offline_optimum"),
    source="Graham 1966",
    examples=(
        Example({"servers": 2}, 1.5, "published"),
        Example({"servers": 8}, 15 / 8, "published: 2 - 1/m"),
        Example({"servers": 1}, 1.0, "one server"),
    ),
    proofs=(Recheck("smt", "work before the last job", busy, ProofGrade.UNIVERSAL),),
    witness=Witness("a long job comes last", in_turn),
    telemetry=("servers",),
    unread="requests come one after another; no key states jobs that must all be done",
)
