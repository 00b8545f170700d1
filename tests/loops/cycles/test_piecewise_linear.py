"""The algebra of piecewise-linear functions against the functions themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.loops.cycles.piecewise_linear import (
    chosen,
    element_of,
    larger,
    line,
    positive,
    rounded,
    scaled,
    shifted,
    smaller,
    total,
)
from coherence.loops.cycles.relay import Pieces, Staircase

eighths = st.integers(-40, 40).map(lambda n: n / 8)
lines = st.tuples(eighths, eighths)


def value(pieces: Pieces, y: float) -> float:
    return float(pieces.at(np.array([y]))[0])


def test_the_minimum_of_two_lines_has_their_crossing_as_its_knot() -> None:
    assert smaller(line(1), line(0, 2)) == Pieces((2.0,), (1.0, 0.0), (0.0, 2.0))
    assert larger(line(1), line(0, 2)) == Pieces((2.0,), (0.0, 1.0), (2.0, 0.0))


def test_parallel_lines_have_no_knot() -> None:
    assert smaller(line(1, 1), line(1)) == line(1)


def test_a_tie_counts_as_it_is_written() -> None:
    assert positive(line(0), strict=True) == line(0, 0)
    assert positive(line(0), strict=False) == line(0, 1)
    assert positive(line(-2, 6), strict=True) == Pieces((3.0,), (0.0, 0.0), (1.0, 0.0))


def test_floor_and_ceil_step_at_whole_numbers_and_know_that_they_have_no_end() -> None:
    floor, ceil = rounded(line(1), up=False), rounded(line(1), up=True)
    assert floor.endless
    assert [value(floor, y) for y in (-1.5, 0.5, 2.75)] == [-2, 0, 2]
    assert [value(ceil, y) for y in (-1.5, 0.5, 2.75)] == [-1, 1, 3]
    cut = rounded(smaller(larger(line(2), line(0)), line(0, 1.5)), up=False)
    assert not cut.endless
    assert cut.knots == (0.5,)


def test_flat_pieces_become_a_staircase_and_sloped_ones_stay() -> None:
    sign = chosen(positive(line(1), strict=True), line(0, 1), line(0, -1))
    assert element_of(sign) == Staircase((-1.0, 1.0), (0.0,), (0.0,), False)
    assert element_of(line(0, 3)) == line(0, 3)
    assert element_of(smaller(line(1), line(0))) == smaller(line(1), line(0))


@given(lines, lines, lines, eighths, eighths)
def test_the_algebra_is_that_of_the_values(
    f: tuple[float, float], g: tuple[float, float], h: tuple[float, float], y: float, factor: float
) -> None:
    y += math.pi / 100  # beside the knots
    a, b, c = (slope * y + intercept for slope, intercept in (f, g, h))
    bent = larger(smaller(line(*f), line(*g)), line(*h))
    expected = max(min(a, b), c)
    assert value(bent, y) == pytest.approx(expected, abs=1e-9)
    assert value(total(bent, line(*f)), y) == pytest.approx(expected + a, abs=1e-9)
    assert value(scaled(bent, factor), y) == pytest.approx(factor * expected, abs=1e-9)
    assert value(shifted(bent, 0.5), y - 0.5) == pytest.approx(expected, abs=1e-9)
    if abs(expected) > 1e-9:
        assert value(positive(bent, strict=True), y) == (expected > 0)
