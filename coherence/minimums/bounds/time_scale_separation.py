"""time-scale separation: how slow the fast part of two coupled loops may be before their composition is lost.

## What
x' = a11 x + a12 z, e z' = a21 x + a22 z with a22 < 0 and a11 a22 > a12 a21 is stable exactly for e < -a22/a11 if
a11 > 0 (and for every e > 0 if a11 <= 0).

## Why it matters
An inner loop that is fast enough may be treated as settled; from this e on it may not, however each is tuned alone.

## Example
x' = 0.5 x + z, e z' = -2 x - z: e < 2.

## Source
P. Kokotovic, H. Khalil and J. O'Reilly, Singular Perturbation Methods in Control, 1986.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

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
from coherence.minimums.bounds._limited import bisected


def edge(inputs: Inputs) -> Fraction | float:
    """Infinite where the slow part is stable by itself."""
    return -inputs["a22"] / inputs["a11"] if inputs["a11"] > 0 else math.inf


def routh() -> Checked:
    """Trace and determinant decide a second-order system: below the edge both are right, at it the trace is not."""
    head = "(set-logic QF_NRA)\n" + "".join(f"(declare-const {x} Real)\n" for x in ("a", "b", "c", "d", "e"))
    head += "(assert (> a 0.0))\n(assert (< d 0.0))\n(assert (> (* a d) (* b c)))\n(assert (> e 0.0))\n"
    trace, det = "(+ (* a e) d)", "(- (* a d) (* b c))"  # times e, which is positive
    below = f"{head}(assert (< (* e a) (- d)))\n(assert (or (>= {trace} 0.0) (<= {det} 0.0)))\n(check-sat)\n"
    above = f"{head}(assert (>= (* e a) (- d)))\n(assert (< {trace} 0.0))\n(check-sat)\n"
    script = solver.joined([below, above])
    return Checked(solver.unsat(script, timeout_ms=4000).unsat, "stable below the edge, not stable from it on", script)


def _grows(inputs: Inputs, e: float) -> bool:
    import numpy as np

    a11, a12, a21, a22 = (float(inputs[name]) for name in ("a11", "a12", "a21", "a22"))
    return bool(max(np.linalg.eigvals(np.array([[a11, a12], [a21 / e, a22 / e]])).real) >= 0)


def eigenvalues(inputs: Inputs) -> float:
    """Returns the ratio at which an eigenvalue reaches the axis, by bisection; infinite where none does up to 1e9."""
    reached = partial(_grows, inputs)
    return bisected(reached, 1e-9, 1e9) if reached(1e9) else math.inf


BOUND = Bound(
    name="time_scale_separation",
    group="limited information",
    quantity="largest ratio of the fast to the slow time scale",
    unit="1",
    kind=Status.TIGHT,
    role=Role.CEILING,
    loss="B",
    symbols=(
        Symbol("a11", "1", "slow part by itself", Trend.FALLS, least=-math.inf),
        Symbol("a12", "1", "fast on slow", Trend.NEITHER, least=-math.inf),
        Symbol("a21", "1", "slow on fast", Trend.NEITHER, least=-math.inf),
        Symbol("a22", "1", "fast part by itself", Trend.FALLS, least=-math.inf, most=0.0),
    ),
    compute=edge,
    valid="a22 < 0 and a11 * a22 > a12 * a21",
    assumptions=("linear_plant",),
    source="Kokotovic, Khalil and O'Reilly 1986",
    examples=(
        Example(
            {"a11": Fraction(1, 2), "a12": Fraction(1), "a21": Fraction(-2), "a22": Fraction(-1)},
            2.0,
            "eigenvalue bisection",
        ),
    ),
    proofs=(Recheck("smt", "trace and determinant", routh, ProofGrade.UNIVERSAL),),
    witness=Witness("bisection on computed eigenvalues", eigenvalues, 1 + 1e-6),
    telemetry=("time constants of both loops",),
    display=(
        r"-\frac{\mathrm{a22}}{\mathrm{a11}} \quad \text{where } \mathrm{a11} > 0, \text{ else } \infty, \quad "
        r"\mathrm{a11} \, \mathrm{a22} > \mathrm{a12} \, \mathrm{a21}"
    ),
    unread="it is of the four numbers of two coupled loops; `analyze` takes those of a design together",
)
