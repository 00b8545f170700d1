"""Sections of `coherence fit` as text and as data."""

from __future__ import annotations

from coherence.causal.answers.answer import (
    Section,
    TextTable,
    estimate_to_dict,
    render_answers,
    render_interval,
    render_table,
)
from coherence.causal.answers.intervals import Estimate

INFINITE = float("inf")


def test_words_stand_left_and_numbers_right() -> None:
    rows = (("a", "long text", "1"), ("bbbb", "x", "22.5"))
    assert render_table(TextTable(("one", "two", "n"), rows, 2)) == [
        "one   two           n",
        "a     long text     1",
        "bbbb  x          22.5",
    ]
    assert render_table(TextTable(("one", "n"), (("a", "1"),)))[1] == "a    1"


def test_sections_are_indented_below_their_titles() -> None:
    table = TextTable(("x", "n"), (("a", "1"),))
    text = render_answers([Section("First", ("line\nsecond", table)), Section("Other", ())])
    assert text == "First\n  line\n  second\n  x  n\n  a  1\n\nOther\n"


def test_what_is_certain_has_no_interval() -> None:
    assert render_interval(Estimate(2, 2, 2, 0)) == ""
    assert render_interval(Estimate(2, 1, 3, 0.5)) == "1 .. 3"


def test_a_number_that_is_not_known_is_null() -> None:
    assert estimate_to_dict(Estimate(2, -INFINITE, INFINITE, float("nan"))) == {
        "value": 2, "low": None, "high": None, "error": None,
    }  # fmt: skip
    assert estimate_to_dict(Estimate(2, 1, 3, 0.5)) == {"value": 2, "low": 1, "high": 3, "error": 0.5}
