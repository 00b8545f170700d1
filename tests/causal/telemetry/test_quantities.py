"""Units of telemetry in SI: products, quotients and powers, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.base.units import ONE, SECOND, UnitError, unit
from coherence.causal.telemetry.quantities import factor, shown, stated


@pytest.mark.parametrize(
    ("text", "size", "dimension"),
    [
        ("", Fraction(1), ONE),
        ("1", Fraction(1), ONE),
        ("a bare number", Fraction(1), ONE),
        ("ms", Fraction(1, 1000), SECOND),
        ("1/s", Fraction(1), ONE / SECOND),
        ("ms*s", Fraction(1, 1000), SECOND * SECOND),
        ("s^2", Fraction(1), SECOND * SECOND),
        ("ms^2", Fraction(1, 10**6), SECOND * SECOND),
        ("1/ms^2", Fraction(10**6), ONE / SECOND / SECOND),
        ("ms^-1", Fraction(1000), ONE / SECOND),
        ("s/ms", Fraction(1000), ONE),
        ("min/s^-1", Fraction(60), SECOND * SECOND),
        ("%", Fraction(1, 100), ONE),
    ],
)
def test_a_unit_has_a_factor_and_a_dimension(text: str, size: Fraction, dimension: object) -> None:
    assert factor(text) == (size, dimension)


def test_a_unit_that_is_none_is_refused_where_it_was_written() -> None:
    for text in ("s//s", "s^x", "flurbs"):
        with pytest.raises(UnitError):
            factor(text)
    with pytest.raises(UsageError, match="the unit of cpu"):
        stated("flurbs", "cpu", None)
    with pytest.raises(InputError) as error:
        stated("flurbs", "f.csv", 7)
    assert error.value.problems[0].place is not None
    assert error.value.problems[0].place.line == 7
    stated("ms", "cpu", None)


def test_a_unit_is_shown_in_si() -> None:
    assert shown(ONE) == "1"
    assert shown(unit("ms")[1]) == "s"
