"""move or recompute: the link rate from which moving a cached context beats computing it again.

## What
A token's entry moves in kv_bytes/link and is computed in operations/compute; with a fixed time `setup` of a move over n
tokens they are equal at link = kv_bytes/(operations/compute - setup/n).

## Why it matters
Below that rate a router that follows free memory does better to send the prompt again; short contexts never pay for the
set-up.

## Example
327,680 B and 1.412e11 FLOP per token at 8e15 FLOP/s, no set-up: 18.6 GB/s.

## Source
Break-even of two linear costs.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._limited import bisected


def equal() -> Checked:
    """At that rate setup + n k/R = n o/c, by sympy."""
    import sympy as sp

    n, k, o, c, setup = sp.symbols("n k o c s", positive=True)
    rate = k / (o / c - setup / n)
    return Checked(sp.simplify(setup + n * k / rate - n * o / c) == 0, "both times are equal there")


def crossing(inputs: Inputs) -> float:
    """Returns the rate at which the two times cross, by bisection."""
    n, k, o, c, setup = (float(inputs[x]) for x in ("tokens", "kv_bytes", "operations", "compute", "setup"))

    def moves_sooner(rate: float) -> bool:
        return setup + n * k / rate <= n * o / c

    return bisected(partial(moves_sooner), 1.0, 1e18)


BOUND = Bound(
    name="move_or_recompute",
    group="migration",
    quantity="link rate from which moving is sooner",
    unit="B/s",
    kind=Status.EXACT,
    role=Role.POINT,
    loss="migration",
    symbols=(
        Symbol("tokens", "token", "tokens of the context", Trend.FALLS, open_=True, sign="n"),
        Symbol("kv_bytes", "B/token", "cache bytes of a token", Trend.RISES, sign="k"),
        Symbol("operations", "FLOP/token", "operations to compute a token's entry again", Trend.FALLS, open_=True),
        Symbol("compute", "FLOP/s", "compute rate", Trend.RISES, open_=True),
        Symbol("setup", "s", "fixed time of a move", Trend.RISES),
    ),
    formula="kv_bytes / (operations / compute - setup / tokens)",
    valid="operations * tokens > setup * compute",
    assumptions=("uncompressed", "peak_rates"),
    source="break-even of linear costs",
    examples=(
        Example(
            {
                "tokens": Fraction(10_000),
                "kv_bytes": Fraction(327_680),
                "operations": Fraction(1412 * 10**8),
                "compute": Fraction(8 * 10**15),
                "setup": Fraction(0),
            },
            327680 / 1.765e-5,
            "arithmetic",
        ),
        Example(
            {
                "tokens": Fraction(10_000),
                "kv_bytes": Fraction(327_680),
                "operations": Fraction(1412 * 10**8),
                "compute": Fraction(8 * 10**15),
                "setup": Fraction(1, 100),
            },
            327680 / (1.765e-5 - 1e-6),
            "arithmetic",
        ),
    ),
    proofs=(Recheck("identity", "both times are equal", equal),),
    witness=Witness("bisection on both times", crossing),
    telemetry=("cache bytes of a token", "rate of the link", "prefill rate"),
    unread="no key states the operations and the cache bytes of a token",
)
