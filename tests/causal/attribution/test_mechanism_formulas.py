"""The expression of a mechanism: its affine parts, its delays as columns of samples, and what cannot be read so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.base.units import SECOND
from coherence.causal.attribution.mechanism_formulas import MOST_TERMS, affine, laid_out, without_past
from coherence.causal.attribution.mechanisms import evaluated, held_back
from coherence.language.expressions.parse import parse
from coherence.language.expressions.tree import Call, Name, Number


def test_affine_parts_of_an_expression() -> None:
    found = affine(parse("3 * a + b / 2 - (a - k)"), {"a", "b"})
    assert found is not None
    values = {"k": 7.0}
    assert {name: float(evaluated(part, values)) for name, part in found.items()} == {"a": 2, "b": 0.5, "": 7}


@pytest.mark.parametrize("text", ["a * b", "max(a, 1)", "1 / a", "a if b > 1 else 0", "abs(a)"])
def test_what_is_not_affine(text: str) -> None:
    assert affine(parse(text), {"a", "b"}) is None


def test_delays_and_windows_move_down_to_the_names() -> None:
    tree, columns = laid_out(parse("delayed(a * b, 3 s) + mean_over(a, 2 s)"), ["a", "b"], 1.0)
    a, b = np.arange(10.0), np.arange(10.0) ** 2
    values = {key: held_back({"a": a, "b": b}[name], lag) for key, (name, lag) in columns.items()}
    assert evaluated(tree, values)[8] == pytest.approx(5 * 25 + 7.5)


def largest(seconds: int) -> Call:
    """The largest value of a over some seconds, as a sensor chain gives it."""
    return Call("max_over", (Name("a"), Number(Fraction(seconds), SECOND)))


def test_the_maximum_over_a_window_is_taken_of_its_samples() -> None:
    tree, columns = laid_out(largest(3), ["a"], 1.0)
    assert sorted(columns.values()) == [("a", 0), ("a", 1), ("a", 2)]
    assert evaluated(tree, dict(zip(columns, (1.0, 5.0, 3.0), strict=True))) == 5


def test_a_window_of_one_sample_is_the_sample() -> None:
    tree, columns = laid_out(largest(1), ["a"], 1.0)
    assert evaluated(tree, dict.fromkeys(columns, 4.0)) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"mean_over(a, {MOST_TERMS + 1} s)", f"a window of {MOST_TERMS + 1} samples is more than the {MOST_TERMS}"),
        ("previous(a)", "'previous' cannot be read from samples"),
        ("a > 1 for 3 s", "cannot be read from samples: log the condition itself"),
    ],
)
def test_what_cannot_be_read_from_samples_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        laid_out(parse(text), ["a"], 1.0)


def test_an_expression_without_its_delays_has_the_same_terms() -> None:
    assert evaluated(without_past(parse("2 * delayed(a, 3 s) + mean_over(b, 5 s)")), {"a": 3.0, "b": 4.0}) == 10
