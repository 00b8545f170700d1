"""Rows of text as columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coherence.loops.analysis.text_tables import WIDEST, aligned_rows

words = st.text("abc de", min_size=1, max_size=12).map(lambda word: f"<{word}>")


def test_cells_stand_below_each_other_and_the_last_one_is_free() -> None:
    rows = [("a", "bb", "a very long last cell"), ("ccc", "d", "e")]
    assert aligned_rows(rows, indent="") == ["a    bb  a very long last cell", "ccc  d   e"]


def test_shorter_rows_widen_no_column_with_their_last_cell() -> None:
    assert aligned_rows([("name", "1"), ("a note that is long",)]) == ["  name  1", "  a note that is long"]
    assert aligned_rows([]) == []


def test_a_very_long_cell_widens_its_column_only_so_far() -> None:
    lines = aligned_rows([("x" * 200, "1"), ("y", "2")], indent="")
    assert lines == ["x" * 200 + "  1", "y".ljust(WIDEST) + "  2"]


@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=6))
def test_every_column_begins_at_one_place(rows: list[tuple[str, str, str]]) -> None:
    lines = aligned_rows(rows)
    second = 2 + max(len(row[0]) for row in rows) + 2
    third = second + max(len(row[1]) for row in rows) + 2
    for line, row in zip(lines, rows, strict=True):
        assert line[second:].startswith(row[1])
        assert line[third:] == row[2]
        assert line[2:].startswith(row[0])
