"""nested attempts: how often the innermost callee is asked when every layer retries and all tries fail.

## What
The layers' tries multiply: two layers of 4 and 3 tries make 12 sends for one request.

## Why it matters
It is the load that an outage of the innermost callee draws upon itself.

## Example
3 tries outside, 4 inside: 12.

## Source
Counting; for failures of probability p the layers compose to one with the product of tries.
"""

from __future__ import annotations

from fractions import Fraction

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


def composed() -> Checked:
    """(1 - (p^b)^a)/(1 - p^b) * (1 - p^b)/(1 - p) = (1 - p^(a b))/(1 - p), by sympy."""
    import sympy as sp

    p, a, b = sp.symbols("p a b", positive=True)
    nested = (1 - p ** (a * b)) / (1 - p**b) * (1 - p**b) / (1 - p)
    return Checked(
        sp.simplify(nested - (1 - p ** (a * b)) / (1 - p)) == 0, "two layers are one with the product of tries"
    )


def sends(inputs: Inputs) -> int:
    """Runs every send, one by one."""
    return sum(1 for _ in range(int(inputs["outer"])) for _ in range(int(inputs["inner"])))


BOUND = Bound(
    name="nested_attempts",
    group="retries",
    quantity="sends to the innermost callee for one request",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(
        Symbol("outer", "1", "tries of the outer layer", Trend.RISES, least=1, whole=True),
        Symbol("inner", "1", "tries of the inner layer", Trend.RISES, least=1, whole=True),
    ),
    formula="outer * inner",
    assumptions=("same_cause", "all_tries_made"),
    source="counting",
    examples=(Example({"outer": Fraction(3), "inner": Fraction(4)}, 12.0, "counting"),),
    proofs=(Recheck("identity", "layers compose", composed),),
    witness=Witness("every send counted", sends),
    telemetry=("tries of each layer",),
    unread="overload_free_load counts the tries of all layers of a design",
)
