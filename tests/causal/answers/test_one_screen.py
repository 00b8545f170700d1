"""A fit on one screen: its headline, the largest rows, and counts of what is left out."""

from __future__ import annotations

from coherence.causal.answers.answer import Section, TextTable
from coherence.causal.answers.one_screen import alike, cut_short, first_lines, first_rows, listed_names, render_screen

TABLE = TextTable(("x", "n"), tuple((name, "1") for name in "abcdefgh"))


def test_the_first_headline_stands_first_and_what_is_left_out_last() -> None:
    sections = [
        Section("First", ("line",)),
        Section("Second", (TABLE,), headline="One thing is so.", brief=("short",)),
        Section("Third", ("more",), headline="Another is not first.", brief=()),
    ]
    assert render_screen(sections) == (
        "One thing is so.\n\nFirst\n  line\n\nSecond\n  short\n\nmore with --full: every row and note; Third\n"
    )


def test_what_is_whole_on_one_screen_points_nowhere() -> None:
    assert render_screen([Section("First", ("line",))]) == "First\n  line\n"


def test_a_table_keeps_its_first_and_last_rows_and_counts_the_others() -> None:
    table, words = first_rows(TABLE, most=2, last=1)
    assert isinstance(table, TextTable)
    assert [row[0] for row in table.rows] == ["a", "b", "h"]
    assert words == "and 5 smaller"
    assert list(first_rows(TABLE, most=7, last=1)) == [TABLE]


def test_lines_beyond_the_most_are_counted() -> None:
    assert list(first_lines(("a", "b", "c", "d"), most=2)) == ["a", "b", "and 2 more"]
    assert list(first_lines(("a", "b"), most=2)) == ["a", "b"]


def test_tables_stand_before_lines() -> None:
    table, rows, *lines = cut_short(("a", TABLE, "b"), most=5)
    assert isinstance(table, TextTable)
    assert len(table.rows) == 5
    assert [rows, *lines] == ["and 3 more", "a", "b"]


def test_a_reason_that_several_have_is_said_once() -> None:
    reasons = [(name, "too short") for name in "abcd"] + [("e", "constant")]
    assert list(alike(reasons)) == ["a, b, c and 1 more: too short", "e: constant"]
    assert listed_names(["a", "a", "b"]) == "a, b"
