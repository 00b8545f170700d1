"""size of a compressed gradient: how small a message can be from which a vector is known within an error.

## What
d log2(1/e) bits for a vector of d numbers of at most a unit's length that is to be known within e of that length: N
messages stand for N balls of radius e, which must cover the unit ball.  Where lengths of messages tell something too,
the empty message, 0 and 1 are three of them at one bit.

## Why it matters
It bounds what compression can save in a collective whose result is used as it is; error feedback over steps, lots, or
a law of the vectors that is known beforehand need less.

## Example
1,000,000 numbers within 1 %: 6.64 million bits, 831 kB.

## Source
Volumes of balls, above; Encyclopedia of Mathematics, "Epsilon-entropy" (the logarithm to base 2 of the fewest balls
that cover a set).  For means over machines, of samples of one law, with bits in all: Y. Zhang, J. Duchi, M. Jordan and
M. Wainwright, "Information-theoretic lower bounds for distributed statistical estimation with communication
constraints", NeurIPS 2013, 2328-2336: another statement, of which nothing is used.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def covered() -> Checked:
    """N balls of volume v e^d hold no less than the unit ball of volume v: N e^d < 1 is unsat."""
    return refuted("volumes of the balls that messages stand for", "QF_NRA", ("N", "v", "small"),
                   ("(> v 0.0)", "(>= small 0.0)", "(>= (* N (* v small)) v)", "(< (* N small) 1.0)"))  # fmt: skip


BOUND = Bound(
    name="gradient_bits",
    group="collectives",
    quantity="bits of a message that tells a vector",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="network",
    symbols=(
        Symbol("dimension", "1", "numbers of the vector", Trend.RISES, least=1, whole=True, sign="d"),
        Symbol(
            "error", "1", "largest error, as a share of the largest length", Trend.FALLS, most=1.0, open_=True, sign="e"
        ),
    ),
    formula="dimension * log2(1 / error)",
    assumptions=("deterministic_policy", "no_forecast", "delimited_messages"),
    source="volumes of balls; Encyclopedia of Mathematics, Epsilon-entropy",
    examples=(
        Example({"dimension": 1_000_000, "error": Fraction(1, 100)}, 1e6 * 6.643856189774724, "arithmetic"),
        Example({"dimension": 1, "error": Fraction(1, 2)}, 1.0, "one bit halves a line"),
    ),
    proofs=(Recheck("smt", "balls that cover a ball", covered, ProofGrade.UNIVERSAL),),
    telemetry=("bytes of a collective", "error of compression"),
    unread="no key states the numbers of a gradient and the error that is allowed",
)
