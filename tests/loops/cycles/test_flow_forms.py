"""Linear forms of states: arithmetic, and the kinks that are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from coherence.loops.cycles.flow_forms import FlowForm, KinkError, form

X, Y = FlowForm(Fraction(0), {"x": Fraction(1)}), FlowForm(Fraction(0), {"y": Fraction(1)})


def parts(whole: FlowForm) -> tuple[Any, dict[str, Any]]:
    return whole.const, dict(whole.terms)


def test_sums_collect_weights_and_drop_those_that_vanish() -> None:
    assert parts(2 * X + 3 - Y + X) == (3, {"x": 3, "y": -1})
    assert parts(X - X + 1) == (1, {})
    assert parts(1 - X) == (1, {"x": -1})
    assert parts(-(X + 2)) == (-2, {"x": -1})
    assert parts(X / 4 + Y * Fraction(0)) == (0, {"x": Fraction(1, 4)})


def test_products_and_quotients_of_states_are_refused() -> None:
    bad: Callable[[], FlowForm]
    for bad in (lambda: X * Y, lambda: 1 / X, lambda: Y / X):
        with pytest.raises(KinkError):
            bad()
    assert parts(form(6) / form(3)) == (2, {})
    assert parts(form(2) * X) == (0, {"x": 2})


def test_conditions_on_numbers_are_taken_and_those_on_states_refused() -> None:
    three = form(Fraction(3))
    assert three > 2
    assert three >= 3
    assert three < 4
    assert three <= 3
    assert three == 3
    assert not three > 3
    assert not three < 3
    assert X + 1 > X  # the states cancel
    with pytest.raises(KinkError, match="a kink of x"):
        _ = X > 0


def test_rounding_and_size_are_of_numbers_alone() -> None:
    assert (math.floor(form(Fraction(5, 2))), math.ceil(form(Fraction(5, 2)))) == (2, 3)
    assert parts(abs(form(Fraction(-3)))) == (3, {})
    with pytest.raises(KinkError):
        abs(X)
