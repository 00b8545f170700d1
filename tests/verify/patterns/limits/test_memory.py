"""The mean of what a request holds: linear in the lengths, within one of a rounded value."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from coherence.language.expressions.parse import parse
from coherence.model.model import Interval
from coherence.verify.patterns.limits._memory import _expected

LENGTHS = {"prompt": (Interval(Fraction(10), Fraction(20)), Interval(Fraction(1), Fraction(99)))}
FACTS: Any = SimpleNamespace(values={"kv": Interval(Fraction(2), Fraction(3))})


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("7", 7, 7),
        ("request.prompt", 10, 20),
        ("request.prompt * kv", 20, 60),
        ("kv * request.prompt + 1", 21, 61),
        ("request.prompt / 5 - kv", -1, 2),
        ("ceil(request.prompt / 4)", Fraction(5, 2), 6),
        ("floor(request.prompt / 4)", Fraction(3, 2), 5),
    ],
)
def test_the_mean_is_that_of_the_lengths(text: str, low: Fraction | int, high: Fraction | int) -> None:
    assert _expected(FACTS, parse(text), LENGTHS) == Interval(Fraction(low), Fraction(high))


@pytest.mark.parametrize("text", ["request.prompt * request.prompt", "1 / request.prompt", "request.answer", "other"])
def test_no_mean_where_it_is_not_linear_or_not_stated(text: str) -> None:
    assert _expected(FACTS, parse(text), LENGTHS) is None
