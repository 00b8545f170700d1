"""barrier, any dependence: nobody leaves before the slowest member's mean, however the members depend on each other.

## What
E[max X_i] >= max E[X_i] (Jensen: the maximum is convex).  It needs neither independence nor a distribution.

## Why it matters
It is the floor of a barrier that survives every doubt about the members; what a distribution adds to it is bought with
an assumption.  Equal members under a common cause attain it.

## Example
Members of mean 3, 5 and 4 s: 5 s.

## Source
J. L. W. V. Jensen, Acta Math. 30, 1906.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)

MEMBERS, OUTCOMES = 3, 3


def convex() -> Checked:
    """Of three members over three equally likely outcomes no choice of times lies below the largest mean."""
    names = [[f"x{i}{k}" for k in range(OUTCOMES)] for i in range(MEMBERS)]
    lines = ["(set-logic QF_LRA)"]
    lines += [f"(declare-const {name} Real)" for row in names for name in row]
    lines += [f"(declare-const m{k} Real)" for k in range(OUTCOMES)]
    lines += [f"(assert (>= m{k} {row[k]}))" for k in range(OUTCOMES) for row in names]
    total = " ".join(f"m{k}" for k in range(OUTCOMES))
    below = " ".join(f"(< (+ {total}) (+ {' '.join(row)}))" for row in names)
    script = "\n".join([*lines, f"(assert (or {below}))", "(check-sat)"]) + "\n"
    answer = solver.unsat(script, timeout_ms=5000)
    return Checked(
        answer.unsat, f"{MEMBERS} members, {OUTCOMES} outcomes: below the largest mean {answer.outcome}", script
    )


def together(inputs: Inputs) -> Fraction | float:
    """Returns a run in which one cause scales every member: the slowest is the same one in each outcome."""
    factors: Sequence[Fraction] = (Fraction(1, 2), Fraction(3, 2))
    steps = [max(f * inputs["mean"], f * inputs["other_mean"]) for f in factors]
    return sum(steps) / len(steps)


BOUND = Bound(
    name="barrier_any_dependence",
    group="barriers",
    quantity="mean time until the last member is ready",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("mean", "s", "mean time of the slowest member", Trend.RISES),
        Symbol("other_mean", "s", "mean time of any other member", Trend.RISES),
    ),
    formula="max(mean, other_mean)",
    assumptions=(),
    source="Jensen 1906",
    examples=(Example({"mean": Fraction(5), "other_mean": Fraction(4)}, 5.0, "arithmetic"),),
    proofs=(Recheck("smt", "no joint distribution of small support lies below", convex),),
    witness=Witness("members that one cause slows together", together),
    telemetry=("mean time of each member",),
    unread="no key states the law of a member's time; only its range",
)
