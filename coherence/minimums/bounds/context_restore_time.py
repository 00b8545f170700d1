"""restoring a context: the least time to have a conversation's cache on another machine.

## What
Each token's cache entry is either moved (kv_bytes over the link) or computed again (operations over the compute rate);
both can go on at once, and nothing else has it, so n tokens take at least n/(link/kv_bytes + compute/operations).

## Why it matters
Neither moving nor recomputing alone reaches it; where the two rates are far apart the better one alone is close.

## Example
10,000 tokens of 327,680 B over 50 GB/s, or 1.41e11 FLOP each at 8e15 FLOP/s: 0.0478 s (moved 0.0655 s, again 0.177 s).

## Source
Two resources that work in parallel (an LP with two activities).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
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

INPUTS = {
    "tokens": Fraction(10_000),
    "kv_bytes": Fraction(327_680),
    "link": Fraction(50 * 10**9),
    "operations": Fraction(1412 * 10**8),
    "compute": Fraction(8 * 10**15),
}


def shares() -> Checked:
    """Checks that no split of the tokens is done in less than the formula says, at any rates (unsat): moved <= a t,
    again <= b t.

    With moved + again = n and t (a + b) < n.
    """
    names = ("a", "b", "n", "t", "moved", "again")
    script = "(set-logic QF_NRA)\n" + "".join(f"(declare-const {x} Real)\n" for x in names)
    script += "".join(f"(assert (>= {x} 0.0))\n" for x in names)
    script += "(assert (<= moved (* a t)))\n(assert (<= again (* b t)))\n(assert (= (+ moved again) n))\n"
    script += "(assert (< (* t (+ a b)) n))\n(check-sat)\n"
    return Checked(solver.unsat(script, timeout_ms=3000).unsat, "every split of the tokens: unsat below", script)


def split(inputs: Inputs) -> Fraction:
    """Token by token: each goes to the resource that would be done with it first."""
    move = Fraction(inputs["kv_bytes"]) / Fraction(inputs["link"])
    again = Fraction(inputs["operations"]) / Fraction(inputs["compute"])
    moved = done = Fraction(0)
    for _ in range(int(inputs["tokens"])):
        if moved + move <= done + again:
            moved += move
        else:
            done += again
    return max(moved, done)


BOUND = Bound(
    name="context_restore_time",
    group="migration",
    quantity="time until a context is cached elsewhere",
    unit="s",
    kind=Status.THEOREM,
    loss="migration",
    symbols=(
        Symbol("tokens", "token", "tokens of the context", Trend.RISES, whole=True, sign="n"),
        Symbol("kv_bytes", "B/token", "cache bytes of a token", Trend.RISES, open_=True, sign="k"),
        Symbol("link", "B/s", "rate of the link", Trend.FALLS, open_=True, sign="R"),
        Symbol("operations", "FLOP/token", "operations to compute a token's entry again", Trend.RISES, open_=True),
        Symbol("compute", "FLOP/s", "compute rate", Trend.FALLS, open_=True),
    ),
    formula="tokens / (link / kv_bytes + compute / operations)",
    assumptions=("uncompressed", "peak_rates", "stated_precision"),
    source="two resources in parallel",
    examples=(Example(INPUTS, 0.047790855, "arithmetic", 1e-6),),
    proofs=(Recheck("smt", "every split of the tokens", shares, ProofGrade.UNIVERSAL),),
    witness=Witness("token by token to the resource that is done first", split, 1.001),
    telemetry=("cache bytes of a token", "rate of the link", "prefill rate"),
    unread="no key states the operations and the cache bytes of a token",
)
