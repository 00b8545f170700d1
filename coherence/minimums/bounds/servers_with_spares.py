"""servers with spares: the fewest servers that carry a load while some of them are down or being moved.

## What
What is left of n servers after f have gone must be at least the offered load: n >= ceil(load) + f.

## Why it matters
It is the reserve that a promise about failures (or a rollout that takes f away) costs, whatever the scheduler does.

## Example
10.5 Erlang and 2 down at once: 13.

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
from coherence.minimums.bounds._inductions import refuted


def counted(inputs: Inputs) -> int:
    """Runs one server more at a time, until what is left after the failures carries the load."""
    servers = 0
    while servers - inputs["gone"] < inputs["offered"]:
        servers += 1
    return servers


def left_over() -> Checked:
    """What is left of s servers without g carries more than c - 1, the whole number below the load: s < c + g is
    unsat."""
    return refuted("one server fewer cannot carry it", "QF_LIA", ("s", "g", "c"),
                   ("(> (- s g) (- c 1))", "(< s (+ c g))"), whole=True)  # fmt: skip


BOUND = Bound(
    name="servers_with_spares",
    group="capacity",
    quantity="fewest servers",
    unit="1",
    kind=Status.TIGHT,
    loss="R",
    symbols=(
        Symbol("offered", "1", "offered load: rate times mean time of service", Trend.RISES, open_=True, sign="a"),
        Symbol("gone", "1", "servers that may be gone at once", Trend.RISES, whole=True, sign="f"),
    ),
    formula="ceil(offered) + gone",
    assumptions=("patient",),
    source="counting",
    examples=(Example({"offered": Fraction(21, 2), "gone": Fraction(2)}, 13.0, "counting"),),
    proofs=(Recheck("smt", "what is left carries the load", left_over, ProofGrade.UNIVERSAL),),
    witness=Witness("one server more at a time", counted),
    telemetry=("offered load", "failures at once"),
    unread="servers_for_load is told of a design's stages",
)
