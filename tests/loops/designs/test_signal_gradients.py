"""Derivatives of expressions by signal, delay and window, at literal points."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.expressions import parse
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Call, Name, Number
from coherence.language.reading import read_text
from coherence.loops.designs.signal_gradients import Gradients, PastSignal
from coherence.model.elaborate import elaborate

TEXT = """
coherence: 1
components:
  a: {state: "x' = 0 * b.x / 1 s", from: 2, twice: "2 * delayed(a.x, 3 s)"}
  b: {state: "x' = 0 * a.x / 1 s", from: 5}
"""
POINT = {"a.x": Fraction(2), "b.x": Fraction(5)}


def gradients() -> Gradients:
    return Gradients(elaborate(read_text(TEXT, "design.yaml")), POINT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 * a.x - b.x", {("a.x", 0, 0): 3, ("b.x", 0, 0): -1}),
        ("a.x * b.x", {("a.x", 0, 0): 5, ("b.x", 0, 0): 2}),
        ("b.x / a.x", {("a.x", 0, 0): Fraction(-5, 4), ("b.x", 0, 0): Fraction(1, 2)}),
        ("a.x + delayed(a.x, 4 s)", {("a.x", 0, 0): 1, ("a.x", 4, 0): 1}),
        ("delayed(a.twice, 4 s)", {("a.x", 7, 0): 2}),
        ("mean_over(a.x * a.x, 6 s)", {("a.x", 0, 6): 4}),
        ("delayed(mean_over(b.x, 6 s), 2 s)", {("b.x", 2, 6): 1}),
        ("a.x - a.x + 7", {}),
        ("max(a.x, b.x)", {("b.x", 0, 0): 1}),
    ],
)
def test_an_expression_has_the_derivative_of_calculus(text: str, expected: dict[tuple[str, int, int], int]) -> None:
    seen = {
        PastSignal(path, Fraction(lag), Fraction(window)): weight for (path, lag, window), weight in expected.items()
    }
    assert gradients().of(parse(text)) == seen


def test_a_sensor_that_samples_is_a_signal_of_its_own() -> None:
    all_of = gradients()
    sampled = Call("sampled", (Name("a.x"), Number(Fraction(15))))
    assert all_of.of(sampled) == all_of.of(sampled) == {PastSignal("scrape 1"): 1}
    assert all_of.scrapes["scrape 1"].period == 15
    assert all_of.scrapes["scrape 1"].gradient == {PastSignal("a.x"): 1}
    mean = Call("mean_over", (sampled, Number(Fraction(60))))
    assert all_of.of(mean) == {PastSignal("scrape 1", Fraction(0), Fraction(60)): 1}


def test_what_has_no_linear_form_is_refused_by_name() -> None:
    with pytest.raises(NotExactError, match="the mean of a mean"):
        gradients().of(parse("mean_over(mean_over(a.x, 2 s), 3 s)"))
    with pytest.raises(NotExactError, match="max_over"):
        gradients().of(Call("max_over", (Name("a.x"), Number(Fraction(2)))))
    with pytest.raises(NotExactError, match="previous"):
        gradients().of(parse("mean_over(previous(a.x), 2 s)"))


def test_the_sample_before_is_a_memory_of_what_its_reader_saw() -> None:
    all_of = gradients()
    assert all_of.of(parse("a.x - previous(2 * b.x)")) == {PastSignal("a.x"): 1, PastSignal("memory 1"): -1}
    assert all_of.memories["memory 1"] == {PastSignal("b.x"): 2}
    all_of.of(parse("delayed(previous(a.x), 3 s)"))
    assert all_of.memories["memory 2"] == {PastSignal("a.x", Fraction(3)): 1}
