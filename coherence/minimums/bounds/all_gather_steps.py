"""all-gather in steps: whole shards, one a link and step.

## What
A member lacks n - 1 shards and gets at most one over each of its links in a step: at least ceil((n - 1)/ports) steps.

## Why it matters
Steps are what latency multiplies; on a ring both ways the bound is met.

## Example
6 members on a ring, 2 links each: 3 steps.

## Source
Z. Cai et al., PPoPP 2021: a solver finds no schedule below, and the schedule at it.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.fabric.step_schedules import Sent, decided, executed, schedule, script
from coherence.minimums.fabric.wiring import ring

MEMBERS = (4, 5, 6)


def solved() -> Checked:
    """On small rings: unsat a step below, and a schedule at the bound, which is executed."""
    below = []
    for n in MEMBERS:
        steps = n // 2
        answer = decided(ring(n), steps)
        if answer.outcome is not solver.Outcome.SAT or executed(ring(n), schedule(ring(n), answer)) != steps:
            return Checked(False, f"no schedule of {steps} steps on a ring of {n}")
        below.append(script(ring(n), steps - 1))
    joined = solver.joined(below)
    return Checked(solver.unsat(joined, timeout_ms=2000).unsat, f"rings of {MEMBERS}: unsat a step below", joined)


def both_ways(inputs: Inputs) -> Fraction:
    """On a ring (two links a member) shards go both ways round."""
    n = int(inputs["n"])
    if inputs["ports"] != 2:
        raise UsageError("a ring has two links a member")
    names = ring(n).names
    sent = [
        Sent(step, names[k], names[(k + way) % n], names[(k - way * (step - 1)) % n])
        for step in range(1, n // 2 + 1)
        for k in range(n)
        for way in (1, -1)
    ]
    return Fraction(executed(ring(n), sent))


BOUND = Bound(
    name="all_gather_steps",
    group="fabric",
    quantity="steps of one all-gather",
    unit="1",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        Symbol("n", "1", "members", Trend.RISES, least=1, whole=True),
        Symbol("ports", "1", "links of the member that has the fewest", Trend.FALLS, least=1, whole=True),
    ),
    formula="ceil((n - 1) / ports)",
    assumptions=("full_duplex", "uncompressed", "balanced"),
    source="Cai et al. 2021",
    examples=(
        Example({"n": Fraction(6), "ports": Fraction(2)}, 3.0, "solver: unsat, unsat, sat"),
        Example({"n": Fraction(9), "ports": Fraction(2)}, 4.0, "a ring both ways"),
    ),
    proofs=(Recheck("smt", "rings of few members: unsat below, sat at it", solved),),
    witness=Witness("shards go round a ring both ways, step by step", both_ways),
    telemetry=("links of each member",),
    unread="no key states steps that all members take at once; all_gather_fabric counts latencies",
)
