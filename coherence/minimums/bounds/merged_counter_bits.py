"""bits of a merged counter: how much each replica of a counter keeps where replicas merge whole states.

## What
n log2(m + 1) bits for n replicas that each count up to m: a state that may come late or twice must tell of every
replica how far it has counted.  Two histories that leave one state have one sum; where they differ in what replica i
has counted, a later state of i adds to one of them what the other has already.  A number for each replica attains it.

## Why it matters
It is what counting without a leader costs in every message and every copy, however states are encoded; operations that
arrive once each need log2(n m + 1) bits alone.

## Example
10 replicas that count to a million each: 199.3 bits, against 23.3 of the sum.

## Source
S. Burckhardt, A. Gotsman, H. Yang and M. Zawirski, "Replicated data types: specification, verification, optimality",
POPL 2014 (the order n log m; the number by the argument above).
"""

from __future__ import annotations

import itertools
import math

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._inductions import refuted


def told_apart() -> Checked:
    """Two histories in one state have one sum; a state in which replica i has counted to the larger of both numbers
    brings one of them alone further."""
    return refuted("one state of two histories that differ", "QF_LRA", ("sum", "one", "other", "after", "also"),
                   ("(= after (+ (- sum one) other))", "(= also sum)", "(= after also)", "(< one other)"))  # fmt: skip


def merged(inputs: Inputs) -> float:
    """Lets replicas that keep a number for each of all count and merge in every order; counts the states of one."""
    replicas, most = int(inputs["replicas"]), int(inputs["most"])
    empty = ((0,) * replicas,) * replicas
    seen, left = {empty}, [empty]
    while left:
        whole = left.pop()
        for here, there in itertools.product(range(replicas), repeat=2):
            mine = list(whole[here])
            mine[here] += here == there and mine[here] < most
            after = tuple(mine) if here == there else tuple(map(max, mine, whole[there]))
            moved = (*whole[:here], after, *whole[here + 1 :])
            if moved not in seen:
                seen.add(moved)
                left.append(moved)
    return math.log2(len({whole[0] for whole in seen}))


BOUND = Bound(
    name="merged_counter_bits",
    group="consistency",
    quantity="bits of the state of a counter that replicas merge",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("replicas", "1", "replicas that count", Trend.RISES, least=1, whole=True, sign="n"),
        Symbol("most", "1", "what each replica counts at most", Trend.RISES, whole=True, sign="m"),
    ),
    formula="replicas * log2(most + 1)",
    assumptions=("merged_states", "counted_anywhere", "delimited_messages"),
    source="Burckhardt, Gotsman, Yang and Zawirski 2014 (the order n log m)",
    examples=(
        Example({"replicas": 2, "most": 3}, 4.0, "by hand: 16 states"),
        Example({"replicas": 3, "most": 1}, 3.0, "by hand: 8 states"),
    ),
    proofs=(Recheck("smt", "histories that one state leaves open", told_apart, ProofGrade.UNIVERSAL),),
    witness=Witness("a number for each replica, merged in every order", merged),
    telemetry=("bytes of a state",),
    unread="no key states that members count apart and merge what they have",
)
