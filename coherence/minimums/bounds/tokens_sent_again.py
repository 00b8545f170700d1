"""tokens sent again: what a run reads when each call sends its whole context.

## What
k c0 + a k (k - 1)/2: quadratic in the number of calls.

## Why it matters
It is the cost of a stateless interface without a kept prefix; above `tokens_read_once` all of it is a cost of that
class.

## Example
20 calls, 2,000 tokens at first, 800 each turn: 192,000 tokens.

## Source
Counting.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._agents import runs
from coherence.minimums.bounds._integrals import counted_calls


def summed() -> Checked:
    """The sum of c0 + a i over i from 0 to k - 1, by sympy."""
    import sympy as sp

    k = sp.symbols("k", integer=True, positive=True)
    first, added, i = sp.symbols("c a i", positive=True)
    total = sp.summation(first + added * i, (i, 0, k - 1))
    return Checked(sp.simplify(total - (k * first + added * k * (k - 1) / 2)) == 0, "the sum over the calls")


BOUND = Bound(
    name="tokens_sent_again",
    group="agents",
    quantity="tokens that a run reads",
    unit="token",
    kind=Status.CLASS_COST,
    loss="C",
    symbols=(
        Symbol("calls", "1", "calls of the model in a run", Trend.RISES, least=1, whole=True, sign="k"),
        Symbol("first", "token", "tokens of the first context", Trend.RISES, sign="c_0"),
        Symbol("added", "token", "new tokens of each turn", Trend.RISES, sign="a"),
    ),
    formula="calls * first + added * calls * (calls - 1) / 2",
    assumptions=("stateless_api", "no_prompt_cache"),
    without={"stateless_api": "tokens_read_once", "no_prompt_cache": "tokens_read_once"},
    source="counting",
    examples=(Example({"calls": Fraction(20), "first": Fraction(2000), "added": Fraction(800)}, 192000.0, "trace"),),
    proofs=(
        Recheck("identity", "sum over the calls", summed, ProofGrade.UNIVERSAL),
        Recheck("smt", "call after call", counted_calls, ProofGrade.UNIVERSAL),
    ),
    telemetry=("tokens of each turn",),
    applies=runs,
)
