"""Sends of a retried call against sums and products."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.sends import expected, product


def test_layers_multiply_and_one_without_an_end_has_none() -> None:
    assert product((4, 4, 4)) == 64
    assert product(()) == 1
    assert product((4, None)) is None


def test_sends_by_hand() -> None:
    assert expected(0.5, 3) == 1.75
    assert expected(0.9, 3) == pytest.approx(1 + 0.9 + 0.81)
    assert expected(1.0, 3) == 3
    assert expected(0.75, math.inf) == 4.0


@given(st.fractions(0, 1, max_denominator=20), st.integers(1, 40))
def test_sends_are_the_geometric_sum(failing: Fraction, tries: int) -> None:
    wanted = sum(failing**k for k in range(tries))
    assert expected(failing, tries) == wanted
    assert expected(float(failing), tries) == pytest.approx(float(wanted))


@given(st.fractions(0, Fraction(19, 20), max_denominator=20), st.integers(1, 9), st.integers(1, 9))
def test_nested_layers_send_as_one_with_the_product_of_tries(failing: Fraction, outer: int, inner: int) -> None:
    """The bound `nested_attempts` proves it in symbols."""
    nested = expected(failing**inner, outer) * expected(failing, inner)
    assert nested == expected(failing, product((outer, inner)))
