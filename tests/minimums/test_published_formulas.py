"""Formulas of the known cases, read by the project's own parser, give the values that are published with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from coherence.minimums.formulas import number, symbols_of
from tests.paths import DATA, read_yaml

CASES = DATA / "minimums-numeric.yaml"


def _cases() -> list[Any]:
    read = read_yaml(CASES)["cases"]
    return [pytest.param(case, id=case["id"]) for case in read if case["evaluates"]]


def _input(name: str, inputs: dict[str, Any]) -> Any:
    """An input is named as in the formula, or so with its unit behind."""
    found = [key for key in inputs if key == name] or [key for key in inputs if key.rsplit("_", 1)[0] == name]
    assert len(found) == 1, f"{name} among {list(inputs)}"
    return inputs[found[0]]


@pytest.mark.parametrize("case", _cases())
def test_the_formula_has_the_published_value(case: dict[str, Any]) -> None:
    text = str(case["formula"])
    values = {name: Fraction(str(_input(name, case["inputs"]))) for name in symbols_of(text)}
    tolerance = max(float(case["rtol"]), 1e-12)
    assert float(number(text, values)) == pytest.approx(float(case["expected"]), rel=tolerance)


def test_the_spellings_of_algebra_are_read_and_those_of_code_are_not() -> None:
    assert number("Max(ceiling(log(n, 2)), 2**3 - 4)", {"n": Fraction(64)}) == 6
    assert number("2**-1 + -2**2", {}) == Fraction(-7, 2)
    assert number("2**3**2", {}) == 512
