"""Ends of open ranges, in the order in which runs begin at them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, Model
from coherence.simulate.execute.starts import MOST_CORNERS, constant_corners, corner_count, corners, fixed_at


def ranges(count: int) -> Model:
    constants = ", ".join(f"c{k}: 0 .. {k + 1}" for k in range(count))
    return elaborate(read_text(f"coherence: 1\ncomponents: {{a: {{{constants}}}}}\n"))


def test_all_low_and_all_high_come_first_then_each_alone() -> None:
    first = [tuple(choices.values.values()) for choices in corners(ranges(3), 8)]
    assert first == [(0, 0, 0), (1, 2, 3), (1, 0, 0), (0, 2, 0), (0, 0, 3), (0, 2, 3), (1, 0, 3), (1, 2, 0)]


@pytest.mark.parametrize("count", range(6))
def test_corners_are_ends_without_repetition_and_all_of_them_where_they_fit(count: int) -> None:
    model = ranges(count)
    for most in (1, 3, MOST_CORNERS, 2**count):
        found = [tuple(choices.values.values()) for choices in corners(model, most)]
        every = set(itertools.product(*((Fraction(0), Fraction(k + 1)) for k in range(count))))
        assert len(found) == len(set(found)) == min(most, corner_count(model))
        assert set(found) <= every
        assert corner_count(model) == len(every)


def test_each_choice_of_constants_is_one_model_whatever_starts_are_open() -> None:
    text = 'coherence: 1\ncomponents: {a: {k: 1 .. 3, m: 5, state: "x\' = a.k / 1 s", from: 0 .. 9}}\n'
    model = elaborate(read_text(text))
    fixed = [fixed_at(model, choices) for choices in constant_corners(model)]
    assert [each.constants["a.k"].range for each in fixed] == [Interval(Fraction(k), Fraction(k)) for k in (1, 3)]
    assert all(corner_count(each) == 2 for each in fixed)
    assert all(each.constants["a.m"] == model.constants["a.m"] for each in fixed)
