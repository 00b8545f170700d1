"""pre-copy rounds: how often a running memory is copied until the rest fits into an allowed pause.

## What
Each round sends what was written during the one before: the rest shrinks by dirtying/rate per round.  The pause is at
most P after the first n with (state/rate) (dirtying/rate)^n <= P.

## Why it matters
A memory that is written nearly as fast as the link carries takes many rounds; from dirtying = rate on none is enough.

## Example
80 GB, 10 GB/s, 2 GB/s written, 0.1 s allowed: 3 rounds before the pause.

## Source
C. Clark et al., "Live migration of virtual machines", NSDI 2005.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness

MOST = 100_000


def rounds(inputs: Inputs) -> int:
    """Counted by multiplication: no logarithm decides a boundary."""
    left, share, pause = inputs["state"] / inputs["rate"], inputs["dirtying"] / inputs["rate"], inputs["pause"]
    if left > pause and share == 0:
        return 1
    count = 0
    while left > pause:
        left, count = left * share, count + 1
        if count > MOST:
            raise UsageError(f"more than {MOST} rounds: memory is written almost as fast as the link carries")
    return count


def shrinking() -> Checked:
    """Checks that the rest after n rounds is (M/R) (D/R)^n seconds: one round sends M at R while D M/R is written, by
    sympy.
    """
    import sympy as sp

    state, rate, dirty, n = sp.symbols("M R D n", positive=True)
    left = state / rate * (dirty / rate) ** n
    return Checked(sp.simplify(left.subs(n, n + 1) - left * dirty / rate) == 0, "the recurrence of a round")


def copied(inputs: Inputs) -> int:
    """Round after round in bytes."""
    left, count = inputs["state"], 0
    while left / inputs["rate"] > inputs["pause"]:
        took = left / inputs["rate"]
        left, count = inputs["dirtying"] * took, count + 1
    return count


BOUND = Bound(
    name="precopy_rounds",
    group="migration",
    quantity="rounds of copying before the pause",
    unit="1",
    kind=Status.CLASS_COST,
    loss="migration",
    symbols=(
        Symbol("state", "B", "bytes of the memory", Trend.RISES, sign="M"),
        Symbol("rate", "B/s", "rate of the link", Trend.FALLS, open_=True, sign="R"),
        Symbol("dirtying", "B/s", "bytes that are written per second", Trend.RISES, sign="D"),
        Symbol("pause", "s", "longest pause that is allowed", Trend.FALLS, open_=True, sign="P"),
    ),
    compute=rounds,
    valid="dirtying < rate",
    assumptions=("constant_dirtying", "same_dirty_pages", "fluid"),
    source="Clark et al. 2005",
    examples=(
        Example(
            {
                "state": Fraction(80 * 10**9),
                "rate": Fraction(10 * 10**9),
                "dirtying": Fraction(2 * 10**9),
                "pause": Fraction(1, 10),
            },
            3.0,
            "8, 1.6, 0.32, 0.064 s",
        ),
    ),
    proofs=(Recheck("identity", "the recurrence of a round", shrinking),),
    witness=Witness("round after round", copied),
    telemetry=("bytes written per second",),
    display=r"\min\left\{ k \ge 0 : \frac{M}{R} \left( \frac{D}{R} \right)^k \le P \right\}",
    unread="no key states the bytes of what moves, and how fast they are written",
)
