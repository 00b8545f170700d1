"""tokens read once: what a run of k model calls must read at least, if nothing is read twice.

## What
A first context of c0 tokens and a new tokens in each of the k - 1 further turns: c0 + a (k - 1).

## Why it matters
It is the information floor of an agent's run; an interface that re-sends the context reads k times as much and more.

## Example
20 calls, 2,000 tokens at first, 800 each turn: 17,200 tokens; re-sent: 192,000, 11.2 times.

## Source
Counting: each token is read at least once.
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
from coherence.minimums.bounds._inductions import each_step_adds


def state_kept(inputs: Inputs) -> Fraction | float:
    """Runs a run that keeps its state: in each turn only what is new is read."""
    read: Fraction | float = Fraction(0)
    for call in range(int(inputs["calls"])):
        read += inputs["first"] if call == 0 else inputs["added"]
    return read


def added_up() -> Checked:
    """The first call reads its tokens, each further one at least what is new."""
    return each_step_adds("each call reads at least what is new: by induction over the calls")


BOUND = Bound(
    name="tokens_read_once",
    group="agents",
    quantity="tokens that a run reads",
    unit="token",
    kind=Status.TIGHT,
    loss="C",
    symbols=(
        Symbol("calls", "1", "calls of the model in a run", Trend.RISES, least=1, whole=True, sign="k"),
        Symbol("first", "token", "tokens of the first context", Trend.RISES, sign="c_0"),
        Symbol("added", "token", "new tokens of each turn", Trend.RISES, sign="a"),
    ),
    formula="first + added * (calls - 1)",
    assumptions=("every_token_read",),
    source="counting",
    examples=(Example({"calls": Fraction(20), "first": Fraction(2000), "added": Fraction(800)}, 17200.0, "trace"),),
    proofs=(Recheck("smt", "each call adds tokens that were never read", added_up, ProofGrade.UNIVERSAL),),
    witness=Witness("a run that keeps its state", state_kept),
    telemetry=("tokens of each turn",),
    applies=runs,
)
