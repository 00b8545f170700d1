"""retries for availability: the fewest retries that reach an availability when tries fail independently.

## What
A request fails if all r + 1 tries do: p^(r+1) <= 1 - A, so r = ceil(log(1 - A)/log p) - 1.

## Why it matters
Fewer cannot reach the promise; more only add load when failures come together.

## Example
p = 5 %, A = 99.999 %: 3 retries (4 attempts).

## Source
Truncated geometric law.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend


def fewest(inputs: Inputs) -> int:
    """By powers, exact for rational inputs: a logarithm only says where to begin."""
    failing, allowed = inputs["p"], 1 - inputs["availability"]
    if failing == 0 or failing <= allowed:
        return 0
    tries = max(1, math.ceil(math.log(allowed) / math.log(failing)) - 1)
    while failing**tries > allowed:
        tries += 1
    while tries > 1 and failing ** (tries - 1) <= allowed:
        tries -= 1
    return tries - 1


def boundary() -> Checked:
    """At A = 1 - p^(r+1) exactly r retries are enough, and one fewer is not, for r up to 8."""
    p = Fraction(1, 20)
    for r in range(9):
        if fewest({"p": p, "availability": 1 - p ** (r + 1)}) != r:
            return Checked(False, f"r = {r}")
    return Checked(True, "the boundary A = 1 - p^(r+1) for r = 0 to 8, exactly")


BOUND = Bound(
    name="retries_for_availability",
    group="retries",
    quantity="fewest retries",
    unit="1",
    kind=Status.EXACT,
    loss="B",
    symbols=(
        Symbol("p", "1", "probability that a try fails", Trend.RISES, most=0.999),
        Symbol("availability", "1", "share of requests that must succeed", Trend.RISES, most=0.999999999, sign="A"),
    ),
    compute=fewest,
    assumptions=("independent_failures",),
    source="truncated geometric law",
    examples=(Example({"p": Fraction(1, 20), "availability": Fraction(99999, 100000)}, 3.0, "search"),),
    proofs=(Recheck("enumeration", "boundaries in exact fractions", boundary),),
    telemetry=("failures of tries",),
    display=r"\min\left\{ r \ge 0 : p^{r + 1} \le 1 - A \right\}",
    unread="no key states which share of tries fails",
)
