"""Signals that an estimate can use, and those that are left out by name."""

from __future__ import annotations

import numpy as np

from coherence.causal.data.series import Series
from coherence.causal.data.usable import unchanging, usable, without_copies, without_squares

NAN, INFINITE = float("nan"), float("inf")
SERIES = Series(
    ("moves", "half", "few", "flat", "never", "limits"),
    np.column_stack([
        [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, NAN, NAN], [1.0, NAN, NAN, NAN], [5.0, 5.0, NAN, 5.0], [NAN] * 4,
        [1.0, INFINITE, 2.0, -INFINITE],
    ]),
    1.0,
)  # fmt: skip


def test_signals_with_few_values_or_one_are_left_out_by_name() -> None:
    kept, out = usable(SERIES)
    assert kept.names == ("moves", "half", "limits")
    assert [(one.what, one.why) for one in out] == [
        ("few", "it has a value at 1 of 4 times"),
        ("flat", "it is 5 all the time"),
        ("never", "it has a value at 0 of 4 times"),
    ]
    assert kept.excluded == out
    assert np.isnan(kept["limits"][[1, 3]]).all()  # an infinite value is none


def test_a_signal_with_one_value_all_the_time_is_unchanging() -> None:
    assert unchanging(SERIES) == ("flat",)
    few = Series(("a", "b"), np.array([[1.0, NAN], [1.0, NAN], [NAN, NAN], [NAN, 1.0]]), 1.0)
    assert unchanging(few) == ("a",)  # at half of the times; b at a quarter
    assert unchanging(Series(("a",), np.zeros((0, 1)), 1.0)) == ()


def test_values_whose_squares_are_no_numbers_are_left_out() -> None:
    kept, out = usable(Series(("a", "b"), np.array([[1.0, 1e300], [2.0, -1e300], [3.0, 2.0]]), 1.0))
    assert kept.names == ("a",)
    assert [(one.what, one.remedy) for one in out] == [("b", "give it in a larger unit")]
    assert "1e+300" in out[0].why


def test_values_too_near_each_other_for_squares_are_left_out() -> None:
    series = Series(("a", "b", "c"), np.array([[1.0, 1e-170, 1.0], [2.0, -1e-170, 1.0], [3.0, 0.0, 1.0]]), 1.0)
    kept, out = usable(series)
    assert kept.names == ("a",)
    assert next((one.what, one.remedy) for one in out) == ("b", "give it in a smaller unit")
    assert without_squares(series) == {"b": "has values less than 1e-140 apart, whose squares are no numbers"}


def test_a_copy_is_left_out_unless_it_is_needed() -> None:
    columns = np.column_stack([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    series = Series(("a", "b", "c", "d"), columns, 1.0)
    assert without_copies(series, ()).names == ("a", "c")
    assert without_copies(series, ("d",)).names == ("c", "d")
    assert without_copies(series, ("b", "d")).names == ("b", "c", "d")
