"""gradient coding: how much data each worker must hold so that no s slow ones delay the exact sum.

## What
Each part of the data must lie with s + 1 of n workers, or s slow ones hide it: (s + 1)/n of the data each, on average.

## Why it matters
It is the price in computation of not waiting for stragglers; leaving their part out of the sum costs accuracy instead.

## Example
10 workers, 2 may be late: 30 % of the data each.

## Source
R. Tandon, Q. Lei, A. Dimakis and N. Karampatziakis, "Gradient coding", ICML 2017, theorem 1.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._inductions import refuted


def copies() -> Checked:
    """Each of k parts has c > s copies and n workers hold k c copies: a mean share below (s + 1)/n is unsat."""
    claims = ("(> n 0.0)", "(> k 0.0)", "(>= c (+ s 1.0))", "(= (* n held) (* k c))", "(< (* n held) (* k (+ s 1.0)))")
    return refuted("the copies of all parts, over the workers: unsat for all numbers", "QF_NRA",
                   ("n", "k", "s", "c", "held"), claims)  # fmt: skip


def laid_out(inputs: Inputs) -> Fraction:
    """Gives worker i the parts i, i + 1, ... i + s of a circle; returns its share if any n - s workers have all.

    Raises UsageError for more sets of workers than 100,000.
    """
    workers, late = int(inputs["workers"]), int(inputs["late"])
    if math.comb(workers, late) > 100_000:
        raise UsageError(f"{workers} workers have too many sets of {late} to try")
    held = [{(first + step) % workers for step in range(late + 1)} for first in range(workers)]
    for gone in itertools.combinations(range(workers), late):
        if len(set().union(*(held[k] for k in range(workers) if k not in gone))) < workers:
            raise AssertionError(f"without {gone} a part is missing")
    return Fraction(late + 1, workers)


BOUND = Bound(
    name="gradient_coding_load",
    group="barriers",
    quantity="share of the data that each worker holds",
    unit="1",
    kind=Status.TIGHT,
    loss="none",
    symbols=(
        Symbol("workers", "1", "workers", Trend.FALLS, least=1, whole=True, sign="n"),
        Symbol("late", "1", "workers that nobody waits for", Trend.RISES, whole=True, sign="s"),
    ),
    formula="(late + 1) / workers",
    valid="late < workers",
    assumptions=("exact_sum",),
    source="Tandon et al. 2017, theorem 1",
    examples=(
        Example({"workers": 10, "late": 2}, 0.3, "published"),
        Example({"workers": 4, "late": 0}, 0.25, "no copies"),
    ),
    proofs=(Recheck("smt", "copies of a part outnumber the late", copies, ProofGrade.UNIVERSAL),),
    witness=Witness("parts laid out in a circle, every set of late workers tried", laid_out),
    telemetry=("slow workers of a step",),
    unread="no key states that a step goes on without its last workers",
)
