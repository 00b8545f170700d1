"""pre-copy time: how long n rounds of copying and the pause take together.

## What
(M/R) (1 - s^(n + 1))/(1 - s) with s = dirtying/rate: the first round sends all, each later one what was written in the
one before, the pause sends the rest.

## Why it matters
It is what a short pause costs beyond `migration_time`, at most 1/(1 - s) times as long.

## Example
80 GB, 10 GB/s, 2 GB/s written, 3 rounds: 9.98 s.

## Source
C. Clark et al., "Live migration of virtual machines", NSDI 2005.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness


def summed() -> Checked:
    """The geometric sum for up to six rounds, by sympy."""
    import sympy as sp

    state, rate, share = sp.symbols("M R s", positive=True)
    for n in range(7):
        total = sum(state / rate * share**k for k in range(n + 1))
        if sp.simplify(total - state / rate * (1 - share ** (n + 1)) / (1 - share)) != 0:
            return Checked(False, f"{n} rounds")
    return Checked(True, "rounds of 0 to 6 added up")


def copied(inputs: Inputs) -> Fraction | float:
    """Round after round in bytes, then the pause."""
    left: Fraction | float = inputs["state"]
    now: Fraction | float = Fraction(0)
    for _ in range(int(inputs["rounds"]) + 1):
        took = left / inputs["rate"]
        now, left = now + took, inputs["dirtying"] * took
    return now


BOUND = Bound(
    name="precopy_time",
    group="migration",
    quantity="time of a move with pre-copy",
    unit="s",
    kind=Status.CLASS_COST,
    loss="migration",
    symbols=(
        Symbol("state", "B", "bytes of the memory", Trend.RISES, sign="M"),
        Symbol("rate", "B/s", "rate of the link", Trend.FALLS, open_=True, sign="R"),
        Symbol("dirtying", "B/s", "bytes that are written per second", Trend.RISES, sign="D"),
        Symbol("rounds", "1", "rounds before the pause", Trend.RISES, whole=True, sign="n"),
    ),
    formula="state / rate * (1 - power(dirtying / rate, rounds + 1)) / (1 - dirtying / rate)",
    valid="dirtying < rate",
    assumptions=("constant_dirtying", "same_dirty_pages", "fluid"),
    without={"same_dirty_pages": "migration_time", "constant_dirtying": "migration_time"},
    source="Clark et al. 2005",
    examples=(
        Example(
            {
                "state": Fraction(80 * 10**9),
                "rate": Fraction(10 * 10**9),
                "dirtying": Fraction(2 * 10**9),
                "rounds": Fraction(3),
            },
            9.984,
            "8 + 1.6 + 0.32 + 0.064 s",
        ),
    ),
    proofs=(Recheck("identity", "rounds added up", summed),),
    witness=Witness("round after round", copied),
    telemetry=("bytes written per second",),
    unread="no key states the bytes of what moves, and how fast they are written",
)
