"""Reads the number up to which a limit lets through: the larger of its cap and of what the cap is never below."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.language.design import Design, Limit
from coherence.language.implied import number_of
from coherence.language.schema_kinds import Formula, Quantity, Word


def most_allowed(design: Design, limit: Limit) -> Quantity | None:
    """Returns the larger of `at_most` and `but_at_least`; None where one is stated and is no number.

    Expressions of constants are numbers.  It is that of each instance: of a limit with a `scope` there may be several.
    """
    most, least = _number(design, limit.at_most), _number(design, limit.but_at_least)
    if most is None or (least is None and limit.but_at_least is not None):
        return None
    if least is None or most.low >= least.high:
        return most
    if least.low >= most.high:
        return least
    low, high = max(most.low, least.low), max(most.high, least.high)
    return replace(most, low=low, high=high, text=f"max({most}, {least})")


def least_allowed(design: Design, limit: Limit) -> Fraction | None:
    """Returns what the cap of a limit is never below, 0 where nothing says it; None where that is no number."""
    least = _number(design, limit.but_at_least)
    return Fraction(0) if limit.but_at_least is None else least.high if least is not None else None


def _number(design: Design, stated: Quantity | Formula | Word | None) -> Quantity | None:
    if isinstance(stated, Formula):
        return number_of(design, stated)
    return stated if isinstance(stated, Quantity) else None
