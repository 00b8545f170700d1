"""attempts: the mean number of sends per request when each try fails independently.

## What
With t tries in all and a failure probability p each: 1 + p + ... + p^(t-1) sends.

## Why it matters
It is the load that retries add; where failures come from that load, p grows with it and the sum feeds itself.

## Example
p = 0.5, 4 tries (3 retries): 1.875.

## Source
Truncated geometric law.
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


def histories() -> Checked:
    """All histories of up to six tries, weighted exactly."""
    for tries in range(1, 7):
        for p in (Fraction(1, 2), Fraction(1, 20)):
            counted = sum(p ** (sent - 1) * (1 - p) * sent for sent in range(1, tries)) + p ** (tries - 1) * tries
            if counted != sum(p**k for k in range(tries)):
                return Checked(False, f"{tries} tries, p = {p}")
    return Checked(True, "every history of 1 to 6 tries, counted exactly")


def step_by_step(inputs: Inputs) -> Fraction | float:
    """Try by try: the chance that it is sent, added up."""
    sent: Fraction | float = Fraction(0)
    chance: Fraction | float = Fraction(1)
    for _ in range(int(inputs["tries"])):
        sent += chance
        chance *= inputs["p"]
    return sent


BOUND = Bound(
    name="retry_attempts",
    group="retries",
    quantity="mean sends per request",
    unit="1",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("p", "1", "probability that a try fails", Trend.RISES, most=1.0),
        Symbol("tries", "1", "tries in all, the first one included", Trend.RISES, least=1, whole=True, sign="t"),
    ),
    formula="tries if p == 1 else (1 - power(p, tries)) / (1 - p)",
    assumptions=("independent_failures", "all_tries_made"),
    source="truncated geometric law",
    examples=(
        Example({"p": Fraction(1, 2), "tries": 4}, 1.875, "3 retries"),
        Example({"p": Fraction(1), "tries": 3}, 3.0, "every try fails"),
    ),
    proofs=(Recheck("enumeration", "all histories of few tries", histories),),
    witness=Witness("try by try", step_by_step),
    telemetry=("failures of tries", "tries"),
    unread="no key states which share of tries fails",
)
