"""tail at scale: how likely it is that at least one of n parts of a request is slow.

## What
Each of n independent parts is fast with probability p.  All are fast with p^n, so 1 - p^n of requests meet a slow one.

## Why it matters
A request that asks a hundred leaves sees a one-in-a-hundred delay two times out of three.

## Example
p = 0.99, n = 100: 63.4 %.

## Source
J. Dean and L. A. Barroso, "The tail at scale", CACM 56(2), 2013.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

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


def enumerated(inputs: Inputs) -> Fraction | float:
    """By convolution: the chance that k parts are slow, part by part."""
    fast, slow = inputs["p"], 1 - inputs["p"]
    none: Fraction | float = Fraction(1)
    some: Fraction | float = Fraction(0)
    for _ in range(int(inputs["n"])):
        none, some = none * fast, some + none * slow
    return some


def outcomes() -> Checked:
    """All outcomes of up to six parts, in exact fractions."""
    for n, p in product(range(1, 7), (Fraction(1, 2), Fraction(99, 100))):
        slow = sum(p ** sum(seen) * (1 - p) ** (n - sum(seen)) for seen in product((0, 1), repeat=n) if not all(seen))
        if slow != 1 - p**n:
            return Checked(False, f"n = {n}, p = {p}: {slow}")
    return Checked(True, "every outcome of 1 to 6 parts, counted exactly")


BOUND = Bound(
    name="tail_at_scale",
    group="barriers",
    quantity="share of requests with at least one slow part",
    unit="1",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("p", "1", "share of parts that are fast", Trend.FALLS, most=1.0),
        Symbol("n", "1", "parts of one request", Trend.RISES, least=1, whole=True),
    ),
    formula="1 - power(p, n)",
    assumptions=("iid",),
    source="Dean and Barroso 2013",
    examples=(Example({"p": Fraction(99, 100), "n": 100}, 0.6339676587267709, "the published 63 %"),),
    proofs=(Recheck("enumeration", "all outcomes of few parts", outcomes),),
    witness=Witness("part by part, in exact fractions", enumerated),
    telemetry=("share of slow parts", "parts of a request"),
    unread="no key states which share of parts is slow",
)
