"""all-reduce, rounds of messages: n members know all numbers after ceil(log2 n) messages in a row at the earliest.

## What
With one message in and one out at a time, what a member knows at most doubles in each round.  A round takes at least
alpha, however few bytes it carries.

## Why it matters
It is the floor of small collectives, where bytes over bandwidth says nothing: decode steps of tensor parallelism.

## Example
64 members, 20 us a message: 120 us.

## Source
E. Chan, M. Heimlich, A. Purkayastha and R. van de Geijn, "Collective communication: theory, practice and experience",
2007, lower bounds.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, ProofGrade, Recheck, Status, Witness
from coherence.minimums.bounds._collectives import MEMBERS, MESSAGE, doubling
from coherence.minimums.bounds._inductions import told_in_rounds
from coherence.minimums.collectives import bruck


def gathered(inputs: Inputs) -> Fraction:
    """All numbers are gathered at everybody, by the algorithm of Bruck, and added there; their bytes take no time."""
    return bruck(int(inputs["n"]), 0, 1, inputs["alpha"])


BOUND = Bound(
    name="all_reduce_latency",
    group="collectives",
    quantity="time of one all-reduce",
    unit="s",
    kind=Status.TIGHT,
    loss="network",
    symbols=(MEMBERS, MESSAGE),
    formula="ceil(log2(n)) * alpha",
    assumptions=("one_port", "message_time", "end_point_reduction"),
    source="Chan et al. 2007",
    examples=(
        Example({"n": Fraction(64), "alpha": Fraction(2, 100_000)}, 0.00012, "6 rounds"),
        Example({"n": Fraction(9), "alpha": Fraction(1, 1000)}, 0.004, "4 rounds: 8 members are told in 3"),
    ),
    proofs=(
        Recheck("smt", "one round at most doubles what anyone knows", told_in_rounds, ProofGrade.UNIVERSAL),
        Recheck("smt", "nobody knows n numbers a round earlier", doubling),
    ),
    witness=Witness("Bruck's all-gather, message by message", gathered),
    telemetry=("members", "time of an empty message"),
    unread="all_reduce_fabric counts the latencies of links",
)
