"""Lines of cells: what is written at a column, and what stands around it."""

from __future__ import annotations

from coherence.reporting._paint import Canvas


def test_what_is_written_stands_at_its_column_and_nothing_after_the_last() -> None:
    canvas = Canvas()
    canvas.put(2, "ab", "error")
    canvas.put(5, "c", "note")
    assert canvas.line() == [("  ", "plain"), ("ab", "error"), (" ", "plain"), ("c", "note")]


def test_what_is_written_later_stands_over_what_was_there() -> None:
    canvas = Canvas()
    canvas.put(0, "-----", "dim")
    canvas.put(1, "ab", "dim")
    assert canvas.line() == [("-ab--", "dim")]
