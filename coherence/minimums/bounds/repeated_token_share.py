"""repeated token share: the part of the tokens of an agent's run that were read in it before.

## What
1 - (c0 + a (k - 1)) / (k c0 + a k (k - 1)/2): what `tokens_sent_again` has above `tokens_read_once`, as a share.

## Why it matters
It is what a kept prefix saves of the bill for input: of a hundred turns all but a fiftieth or less.

## Example
20 calls, 2,000 tokens at first, 800 each turn: 174,800 of 192,000 tokens, 91.0 %.

## Source
Counting.
"""

from __future__ import annotations

from fractions import Fraction

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
from coherence.minimums.bounds._agents import runs
from coherence.minimums.bounds._inductions import refuted


def token_by_token(inputs: Inputs) -> Fraction | float:
    """Sends the context of each call whole, and counts what an earlier call has sent."""
    context: Fraction | float = inputs["first"]
    seen: Fraction | float = Fraction(0)
    sent: Fraction | float = Fraction(0)
    again: Fraction | float = Fraction(0)
    for _ in range(int(inputs["calls"])):
        sent, again = sent + context, again + seen
        seen, context = context, context + inputs["added"]
    return again / sent


def call_by_call() -> Checked:
    """Call k + 1 sends c0 + a k tokens, of which a are new: by induction over the calls, and the share of both sums."""
    sent, fresh = (
        "(= sent (+ (* k first) (* added (/ (* k (- k 1.0)) 2.0))))",
        "(= fresh (+ first (* added (- k 1.0))))",
    )
    more = ("(= after (+ sent (+ first (* added k))))",)
    grown = "(+ (* (+ k 1.0) first) (* added (/ (* (+ k 1.0) k) 2.0)))"
    begin = ("(= k 1.0)", "(= sent first)", f"(not {sent})")
    new = (fresh, "(= after (+ fresh added))", "(not (= after (+ first (* added k))))")
    shares = ("(> sent 0.0)", "(= (* share sent) (- sent fresh))", "(not (= share (- 1.0 (/ fresh sent))))")
    names = ("k", "first", "added", "sent", "fresh", "after", "share")
    says = "tokens sent and tokens that are new, call by call"
    return refuted(says, "QF_NRA", names, begin, (sent, *more, f"(not (= after {grown}))"), new, shares)


BOUND = Bound(
    name="repeated_token_share",
    group="agents",
    quantity="share of the tokens read that were read before",
    unit="1",
    kind=Status.CLASS_COST,
    loss="C",
    symbols=(
        Symbol("calls", "1", "calls of the model in a run", Trend.RISES, least=1, whole=True, sign="k"),
        Symbol("first", "token", "tokens of the first context", Trend.RISES, open_=True, sign="c_0"),
        Symbol("added", "token", "new tokens of each turn", Trend.FALLS, sign="a"),
    ),
    formula="1 - (first + added * (calls - 1)) / (calls * first + added * calls * (calls - 1) / 2)",
    assumptions=("stateless_api", "no_prompt_cache"),
    source="counting",
    examples=(
        Example({"calls": Fraction(20), "first": Fraction(2000), "added": Fraction(800)}, 174800 / 192000, "counted"),
    ),
    proofs=(Recheck("smt", "both sums, call by call", call_by_call, ProofGrade.UNIVERSAL),),
    witness=Witness("a run whose calls send their whole context", token_by_token),
    telemetry=("tokens of each turn",),
    applies=runs,
)
