"""Reads numbers that callers give: SI numbers, or texts with a unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from coherence.base import units
from coherence.base.errors import UsageError

Amount: TypeAlias = float | str | Fraction  # in SI units, or with a unit: 0.5, "500 ms"


def exact(amount: Amount, what: str) -> Fraction:
    """Returns an amount in SI units.  Raises UsageError that names `what`."""
    if not isinstance(amount, str):
        if not math.isfinite(amount):
            raise UsageError(f"{what} = {amount} is no finite number")
        return Fraction(amount) if isinstance(amount, Fraction | int) else Fraction(repr(float(amount)))
    try:
        return units.quantity(amount.strip())[0]
    except (ValueError, units.UnitError) as error:
        raise UsageError(f"{what} = {amount!r}: {error}") from None


def seconds(amount: Amount, what: str) -> float:
    """Returns a time in seconds.  Raises UsageError where it is none, or below zero."""
    number = exact(amount, what)
    if isinstance(amount, str) and not units.quantity(amount.strip())[1].fits(units.SECOND):
        raise UsageError(f"{what} = {amount!r} is no time: write for example '10 min', or seconds as a number")
    if number < 0:
        raise UsageError(f"{what} = {amount} is before the beginning")
    return float(number)


def exact_values(values: Mapping[str, Amount]) -> dict[str, Fraction]:
    """Returns amounts by path in SI units.  Raises UsageError."""
    return {path: exact(amount, path) for path, amount in values.items()}
