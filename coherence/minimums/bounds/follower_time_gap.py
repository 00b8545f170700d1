"""time gap of followers: how far behind each of a row stays so that what disturbs the first fades along it.

## What
2 T for followers that answer a command with a lag T and see only the distance to the one before and its change: with
the law a = (rate of the distance + l (distance - h v))/h the motion of each, over that of the one before, is nowhere
larger than 1 exactly if h >= 2 T, whatever l > 0 is.  At a distance that does not grow with speed (h = 0) no such law
keeps it (Seiler, Pant and Hedrick 2004).

## Why it matters
Rows in which each loop follows the one before it (stages of a pipeline that follow each other's rate, stocks that order
from each other) amplify swings from stage to stage unless each leaves room or is told what the first one does.

## Example
A lag of 0.5 s: a gap of 1 s.

## Source
R. Rajamani and C. Zhu, "Semi-autonomous adaptive cruise control systems", IEEE Trans. Vehicular Technology 51(5), 2002
(h >= 2 T); P. Seiler, A. Pant and K. Hedrick, "Disturbance propagation in vehicle strings", IEEE TAC 49(10), 2004.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def faded() -> Checked:
    """The square of the denominator less that of the numerator is w h^2 (l^2 + w (1 - 2 T/h - 2 T l) + T^2 w^2), w the
    square of the frequency: below 2 T it is negative at w = l/T, from there on it is nowhere.
    """
    names = ("h", "T", "l", "w")
    given = ("(> T 0.0)", "(> l 0.0)", "(> h 0.0)")
    whole = "(- (* h (+ (- (+ (* l l) w) (* 2.0 (* T (* l w)))) (* (* T w) (* T w)))) (* 2.0 (* T w)))"
    return refuted("the size of the answer at every frequency, for every law", "QF_NRA", names,
                   (*given, "(= (* T w) l)", f"(>= {whole} 0.0)", "(< h (* 2.0 T))"),
                   (*given, "(>= w 0.0)", f"(< {whole} 0.0)", "(>= h (* 2.0 T))"))  # fmt: skip


def squares() -> Checked:
    """Multiplies both sides out: the answer is (s + l)/(h T s^3 + h s^2 + (1 + l h) s + l)."""
    import sympy as sp

    h, lag, rate, w = sp.symbols("h T l omega", positive=True)
    s = sp.I * w
    below = sp.expand(h * lag * s**3 + h * s**2 + (1 + rate * h) * s + rate)
    square = sp.re(below) ** 2 + sp.im(below) ** 2
    claim = w**2 * h**2 * (rate**2 + w**2 * (1 - 2 * lag / h - 2 * lag * rate) + lag**2 * w**4)
    return Checked(sp.expand(square - (w**2 + rate**2) - claim) == 0, "both squares, for all numbers")


BOUND = Bound(
    name="follower_time_gap",
    group="limited information",
    quantity="least time between followers along which disturbances do not grow",
    unit="s",
    kind=Status.CLASS_COST,
    quantifier=Quantifier.EACH,
    loss="B",
    symbols=(Symbol("lag", "s", "lag between a command and what it does", Trend.RISES, sign="T"),),
    formula="2 * lag",
    assumptions=("linear_plant", "time_gap_law", "sees_one_before"),
    source="Rajamani and Zhu 2002; Seiler, Pant and Hedrick 2004",
    examples=(Example({"lag": Fraction(1, 2)}, 1.0, "published: twice the lag"),),
    proofs=(
        Recheck("smt", "sizes at every frequency", faded, ProofGrade.UNIVERSAL),
        Recheck("identity", "squares of both sides", squares, ProofGrade.UNIVERSAL),
    ),
    telemetry=("lag of an actuator", "distance to the one before"),
    unread="no key states that loops follow each other in a row",
)
