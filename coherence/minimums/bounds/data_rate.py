"""data rate, sampled: the bits per sample without which no coder and controller keep an unstable plant bounded.

## What
The sum of log2 |l| over the eigenvalues with |l| > 1: what is not known about the state grows by their product each
step, and each bit halves it.

## Why it matters
Telemetry that is sampled, rounded or rate-limited below it cannot hold the plant, whatever reads it.

## Example
Eigenvalues 2, 1.5 and 0.5: log2 3 = 1.585 bit per sample.

## Source
G. Nair and R. Evans, SIAM J. Control Optim. 43, 2004; S. Tatikonda and S. Mitter, IEEE TAC 49, 2004.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.base import solver
from coherence.base.errors import UsageError
from coherence.findings.question_input import rational
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
    several,
)

BLOCK, ROUNDS = 400, 6


def moduli(inputs: Inputs) -> list[float]:
    """Of the eigenvalues that are unstable.  Raises UsageError for what is no number."""
    sizes = [abs(complex(one)) for one in several(inputs, "eigenvalues")]
    if not all(map(math.isfinite, sizes)):
        raise UsageError("eigenvalues of data_rate are finite numbers")
    return [size for size in sizes if size > 1]


def rate(inputs: Inputs) -> float:
    """Returns bytes per sample, the SI unit of data here; a pair of complex eigenvalues counts as both of them."""
    return math.fsum(math.log2(one) for one in moduli(inputs)) / 8


def words() -> Checked:
    """With N words no growth above N is held (unsat), N itself is (sat), for N = 1 to 4.

    Of N + 1 equally spaced states of [-1, 1] two share a word, hence a control u; they are 2/N apart, so after one step
    of x -> l x + u one of them lies outside [-1, 1] if l > N.
    """
    above = [_script(n, Fraction(n) + Fraction(1, 1000)) for n in range(1, 5)]
    at = [_script(n, Fraction(n)) for n in range(1, 5)]
    held = not any(solver.unsat(one, timeout_ms=2000).unsat for one in at)
    lost = solver.unsat(solver.joined(above), timeout_ms=4000)
    return Checked(lost.unsat and held, f"growth above the number of words: {lost.outcome}", solver.joined(above))


def _script(count: int, growth: Fraction) -> str:
    lines = ["(set-logic QF_LRA)", *(f"(declare-const u{j} Real)" for j in range(count))]
    for i in range(count + 1):
        state = rational(growth * (Fraction(2 * i, count) - 1))
        inside = (f"(and (<= (+ {state} u{j}) 1.0) (>= (+ {state} u{j}) (- 1.0)))" for j in range(count))
        lines.append(f"(assert (or {' '.join(inside)}))")
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def quantised(inputs: Inputs) -> float:
    """Runs loops that are run: every BLOCK samples a word says in which of ceil(l^BLOCK) cells the state lies.

    The rate of the words; infinite if a state left its interval.  Blocks approach the floor as they grow.
    """
    total = 0.0
    for modulus in moduli(inputs):
        growth = Fraction(modulus).limit_denominator(1000) ** BLOCK
        count = math.ceil(growth)
        state = Fraction(1, 3)
        for _ in range(ROUNDS):
            cell = min(int((state + 1) / 2 * count), count - 1)
            middle = Fraction(2 * cell + 1, count) - 1
            state = growth * (state - middle)
            if abs(state) > 1:
                return math.inf
        total += math.log2(count) / BLOCK
    return total / 8


BOUND = Bound(
    name="data_rate",
    group="limited information",
    quantity="least feedback per sample",
    unit="bit/sample",
    kind=Status.TIGHT,
    loss="B",
    symbols=(Symbol("eigenvalues", "1", "eigenvalues of the plant over one sample", Trend.LIST, sign=r"\lambda"),),
    compute=rate,
    assumptions=("linear_plant", "uniform_samples"),
    source="Nair and Evans 2004; Tatikonda and Mitter 2004",
    examples=(
        Example({"eigenvalues": (2, Fraction(3, 2), Fraction(1, 2))}, math.log2(3) / 8, "log2(3) bit"),
        Example({"eigenvalues": (Fraction(11, 10), Fraction(-6, 5))}, math.log2(1.32) / 8, "arithmetic"),
    ),
    proofs=(Recheck("smt", "cells against growth", words, ProofGrade.PART),),
    witness=Witness("coded loops of 400-sample blocks, run in exact fractions", quantised, 1 + 1e-6),
    telemetry=("bits of a reading", "period of readings"),
    display=r"\sum_{\left| \lambda_i \right| > 1} \log_2 \left| \lambda_i \right|",
    unread="no key states how many bits a reading tells; lost_readings is told of a state that runs away",
)
