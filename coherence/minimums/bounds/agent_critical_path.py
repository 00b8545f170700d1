"""agent's critical path: the time of k model calls in a row with a tool call between each two.

## What
k t/r + (k - 1) s: tokens of a step over the decode rate, and the tools between; no parallelism shortens a chain
of steps that need each other.  Where a step writes on while its tool already runs, it is less.

## Why it matters
It is the floor of a task's latency; fewer serial steps are the only other way down.

## Example
6 steps of 400 tokens at 80 tokens/s and 5 tool calls of 0.8 s: 34 s.

## Source
Critical path of a chain (R. Graham 1969 for general graphs).
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
from coherence.minimums.bounds._inductions import each_step_adds


def chain(inputs: Inputs) -> Fraction | float:
    """Longest path through the graph of steps and tools, node by node."""
    finish: Fraction | float = Fraction(0)
    for step in range(int(inputs["steps"])):
        begin = finish + (inputs["tool"] if step else 0)
        finish = begin + inputs["tokens"] / inputs["rate"]
    return finish


def in_a_row() -> Checked:
    """The first step takes its tokens over the rate, each further one a tool call and its tokens after it."""
    return each_step_adds("each step begins when the tool of the one before has answered: by induction over the steps")


BOUND = Bound(
    name="agent_critical_path",
    group="agents",
    quantity="time of a task",
    unit="s",
    kind=Status.TIGHT,
    loss="C",
    symbols=(
        Symbol("steps", "1", "model calls in a row", Trend.RISES, least=1, whole=True, sign="k"),
        Symbol("tokens", "token", "tokens that a step writes", Trend.RISES, sign="t"),
        Symbol("rate", "token/s", "decode rate", Trend.FALLS, open_=True, sign="r"),
        Symbol("tool", "s", "time of a tool call", Trend.RISES, sign="s"),
    ),
    formula="steps * tokens / rate + (steps - 1) * tool",
    assumptions=("dependent_steps", "whole_steps"),
    source="critical path",
    examples=(
        Example(
            {"steps": Fraction(6), "tokens": Fraction(400), "rate": Fraction(80), "tool": Fraction(4, 5)}, 34.0, "sum"
        ),
    ),
    proofs=(Recheck("smt", "each step follows the one before it", in_a_row, ProofGrade.UNIVERSAL),),
    witness=Witness("the longest path, node by node", chain),
    telemetry=("steps", "tokens of a step", "tool times"),
    unread="no key states how many tokens a step of an agent writes, and its tools' times",
)
