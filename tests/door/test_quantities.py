"""Numbers that callers give: SI, or texts with a unit."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from coherence.base.errors import UsageError
from coherence.door.quantities import exact, exact_values, seconds


def test_numbers_and_texts_are_exact() -> None:
    assert exact(0.1, "x") == Fraction(1, 10)
    assert exact("500 ms", "x") == Fraction(1, 2)
    assert exact_values({"a.b": "30 %", "c": 2}) == {"a.b": Fraction(3, 10), "c": 2}
    assert seconds("2 min", "until") == seconds(120, "until") == 120.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, "", "5 parsecs", "1 2"])
def test_what_is_no_number_is_refused_by_its_name(bad: float | str) -> None:
    with pytest.raises(UsageError, match="until = "):
        exact(bad, "until")


def test_times_have_the_unit_of_times_and_are_not_negative() -> None:
    with pytest.raises(UsageError, match="is no time"):
        seconds("5 B", "until")
    with pytest.raises(UsageError, match="before the beginning"):
        seconds(-1, "until")
