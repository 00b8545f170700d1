"""Rows of a file in the order of time: what stands twice, what is refused, what is told."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.causal.telemetry.parts import Rows, Story, TelemetryPart, long_rows, no_signals, part
from coherence.causal.telemetry.problems import MOST, problem, quoted, refuse, several
from coherence.simulate.telemetry.contract import Signal

NAN = float("nan")


def of(
    times: list[float], values: list[float], how: str = "refuse", *, lines: list[int] | None = None
) -> TelemetryPart:
    at = np.asarray(times, float)
    rows = Rows(Signal("cpu"), at, np.asarray(values, float), lines or [])
    return part("f.csv", "wide CSV", "", [rows], at, Story(len(at), how))


def samples(read: TelemetryPart) -> list[tuple[float, float]]:
    ((_, column),) = read.columns
    return list(zip(column.times.tolist(), column.values.tolist(), strict=True))


def test_rows_are_sorted_and_it_is_told() -> None:
    read = of([0, 2, 1, 5, 4], [1, 2, 3, 4, 5])
    assert samples(read) == [(0, 1), (1, 3), (2, 2), (4, 5), (5, 4)]
    assert read.origin.notes == ("time goes back 2 times from one row to the next: rows were sorted",)
    assert of([0, 1], [1, 2]).origin.notes == ()


@pytest.mark.parametrize(
    ("how", "expected", "told"),
    [
        ("last", [(0, 1), (1, 5), (2, 7)], "1 time stood twice: the last was kept"),
        ("mean", [(0, 1), (1, 4), (2, 7)], "1 time stood twice: their mean was kept"),
    ],
)
def test_two_values_at_one_time_are_settled_as_was_asked(
    how: str, expected: list[tuple[float, float]], told: str
) -> None:
    read = of([0, 1, 1, 2], [1, 3, 5, 7], how)
    assert samples(read) == expected
    assert read.origin.notes == (told,)
    assert samples(of([2, 1, 0, 1], [7, 3, 1, 5], how)) == expected


def test_equal_values_at_one_time_are_one() -> None:
    read = of([0, 1, 1, 2, 2], [1, 3, 3, 7, 7])
    assert samples(read) == [(0, 1), (1, 3), (2, 7)]
    assert read.origin.notes == ("2 times stood twice: one of two equal values was kept",)
    assert len(samples(of([0, 1, 1], [1, NAN, NAN]))) == 2


def test_different_values_at_one_time_are_refused_with_the_line_of_the_second() -> None:
    with pytest.raises(InputError) as error:
        of([0, 2, 1, 2, 0], [1, 3, 9, 5, 2], lines=[11, 12, 13, 14, 15])
    (told,) = error.value.problems
    assert told.message == "'cpu' has two values at 0 s, 1 and 2 (2 such times)"
    assert told.place is not None
    assert told.place.line == 15
    with pytest.raises(InputError, match="1 such time"):
        of([0, 1, 1], [1, 3, NAN])


def test_columns_of_a_long_table_are_told_apart_by_name() -> None:
    names, times = ["b", "a", "b", "a", "a"], np.arange(5.0)
    there = np.array([True, True, True, False, True])
    told = long_rows(names, times, np.array([10.0, 20.0, 30.0, 50.0]), there, [2, 3, 4, 5, 6])
    assert [(name, list(at), list(values), list(lines)) for name, at, values, lines in told] == [
        ("a", [1, 4], [20, 50], [3, 6]), ("b", [0, 2], [10, 30], [2, 4]),
    ]  # fmt: skip
    assert long_rows([], np.zeros(0), np.zeros(0), None, []) == []


def test_a_file_without_a_signal_says_what_was_left_out() -> None:
    assert "(it has a column of time alone)" in str(no_signals("f", []))
    left = [(name, "text", "") for name in "abcd"]
    assert "(a: text; b: text; c: text)" in str(no_signals("f", left))


def test_problems_have_their_line_and_their_value() -> None:
    told = problem("f.csv", 7, "bad", "good")
    assert told.place is not None
    assert (told.place.file, told.place.line, told.message, told.remedy) == ("f.csv", 7, "bad", "good")
    assert refuse("f", 1, "bad").problems[0].remedy == ""
    assert quoted(None) == "''"
    assert quoted("a b") == "'a b'"
    assert [several(n, "row") for n in (0, 1, 2, 1234)] == ["0 rows", "1 row", "2 rows", "1,234 rows"]
    assert several(2, "index", "indices") == "2 indices"
    assert MOST == 20
