"""Columns of text become numbers, gaps or named problems; what the header makes of them; names with labels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.causal.telemetry.cells import Cells


def column(*batches: list[str], name: str = "cpu") -> Cells:
    cells, line = Cells(name), 2
    for batch in batches:
        cells.add(batch, range(line, line + len(batch)))
        line += len(batch)
    return cells


def test_numbers_are_read_without_a_gap() -> None:
    values, there = column(["1", " 2.5 ", "-3e2"], ["inf", "nan"]).samples()
    assert values[:4].tolist() == [1, 2.5, -300, math.inf]
    assert math.isnan(values[4])
    assert there is None


def test_what_is_absent_leaves_a_gap_and_nothing_else_does() -> None:
    cells = column(["1", "2"], ["", "3", "null", " NA ", "4"])
    values, there = cells.samples()
    assert values.tolist() == [1, 2, 3, 4]
    assert there is not None
    assert there.tolist() == [True, True, False, True, False, False, True]
    assert cells.absent == 3
    assert cells.problem("f.csv") is None
    assert not cells.text


def test_true_and_false_are_one_and_zero_and_are_counted() -> None:
    cells = column(["true", "FALSE", "2"])
    assert cells.samples()[0].tolist() == [1, 0, 2]
    assert cells.truths == 2


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([["1", "x", "2"]], "'x' in the column 'cpu' is not a number"),
        ([["x", "y", "1"]], "'x' in the column 'cpu' is not a number (and 1 more)"),
        ([["1"], ["x", "y", "z"]], "'x' in the column 'cpu' is not a number (and 2 more)"),
    ],
)
def test_a_word_among_numbers_is_a_problem_with_its_line(batches: list[list[str]], message: str) -> None:
    cells = column(*batches)
    problem = cells.problem("f.csv")
    assert problem is not None
    assert problem.message == message
    flat = [cell for batch in batches for cell in batch]
    assert problem.place is not None
    assert problem.place.line == 2 + flat.index("x")
    assert not cells.text


def test_a_column_without_a_number_is_text() -> None:
    for batches in (["x", "y"], ["x", ""]):
        cells = column(batches)
        assert cells.text
        assert cells.problem("f.csv") is None
    assert not column(["", ""]).text
    assert column([]).samples()[0].tolist() == []
    assert np.isnan(column(["nan"]).samples()[0]).all()
    assert not column([]).number
