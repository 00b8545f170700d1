"""Repairs as lines removed and added."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.places import Place
from coherence.findings.finding import Edit
from coherence.reporting._edits import Hunk, hunks
from tests.reporting.conftest import DESIGN, FILES, edits, span

FILE = "specs/design.yaml"


def edit(line: int, old: str, new: str) -> Edit:
    return Edit(span(FILE, line, old), old, new)


def lines(found: list[Hunk]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(hunk.removed, hunk.added) for hunk in found]


def test_the_source_line_before_and_after() -> None:
    found = hunks([edit(8, "60 s", "90 s")], FILES)
    assert lines(found) == [(("node: 60 s",), ("node: 90 s",))]
    assert str(found[0].place) == "specs/design.yaml:8:11"


def test_edits_of_one_line_are_made_together() -> None:
    before = "- {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}"
    after = "- {from: app, to: serving, tries: 3, per_try: 5 s, pause: 2 s}"
    changes = [edit(10, "per_try: 20 s", "per_try: 5 s"), edit(10, "4", "3")]
    assert lines(hunks(changes, FILES)) == lines(hunks(changes[::-1], FILES)) == [((before,), (after,))]


def test_edits_of_far_lines_are_hunks_in_order() -> None:
    found = hunks([edit(8, "60 s", "90 s"), edit(5, "4", "3")], FILES)
    assert lines(found) == [(("tries: 4",), ("tries: 3",)), (("node: 60 s",), ("node: 90 s",))]


def test_an_edit_over_lines_shows_only_the_lines_that_change() -> None:
    old = "tries: 4\n      per_try: 20 s"
    one = Edit(span(FILE, 5, "tries: 4"), old, "tries: 4\n      pause: 1 s\n      per_try: 5 s")
    expected = (
        ("per_try: 20 s   # measured at the gateway",),
        ("pause: 1 s", "per_try: 5 s   # measured at the gateway"),
    )
    assert lines(hunks([one], FILES)) == [expected]


def test_a_removed_line_adds_nothing() -> None:
    assert lines(hunks([Edit(Place(FILE, 5, 1, 6, 1), "      tries: 4\n", "")], FILES)) == [(("tries: 4",), ())]


def test_indentation_that_changes_is_kept() -> None:
    one = Edit(Place(FILE, 8, 1, 8, 5), "    node", "  node")
    assert lines(hunks([one], FILES)) == [(("  node: 60 s",), ("node: 60 s",))]


def test_an_edit_that_does_not_fit_is_shown_as_it_is() -> None:
    elsewhere = Edit(Place("other.yaml", 3, 1, 3, 2), "a", "b")
    stale = Edit(span(FILE, 8, "60 s"), "70 s", "90 s")
    beyond = Edit(Place(FILE, 99, 1, 99, 2), "x", "y")
    found = hunks([elsewhere, stale, beyond], FILES)
    assert lines(found) == [(("a",), ("b",)), (("70 s",), ("90 s",)), (("x",), ("y",))]


def test_edits_that_overlap_are_not_guessed_at() -> None:
    changes = [edit(10, "tries: 4", "tries: 3"), edit(10, "4, per_try", "4, each")]
    assert lines(hunks(changes, FILES)) == [(("tries: 4",), ("tries: 3",)), (("4, per_try",), ("4, each",))]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(DESIGN)), st.integers(0, 60), st.text("ab: \n", max_size=12))
def test_removed_and_added_lines_turn_the_old_file_into_the_new(start: int, length: int, new: str) -> None:
    old = DESIGN[start : start + length]
    line, column = DESIGN.count("\n", 0, start) + 1, start - DESIGN.rfind("\n", 0, start)
    after = DESIGN[:start] + new + DESIGN[start + len(old) :]
    assume(after != DESIGN)
    (hunk,) = hunks([Edit(Place(FILE, line, column, line, column), old, new)], FILES)
    first = [text.strip() for text in DESIGN.split("\n") if text.strip()]
    second = [text.strip() for text in after.split("\n") if text.strip()]
    removed, added = ([text.strip() for text in part] for part in (hunk.removed, hunk.added))
    cuts = [i for i in range(len(first) + 1) if first[i : i + len(removed)] == removed]
    assert any(first[:i] + added + first[i + len(removed) :] == second for i in cuts)


@settings(max_examples=50, deadline=None)
@given(st.lists(edits(), max_size=4))
def test_no_edit_is_lost(changes: list[Edit]) -> None:
    files = {edit.place.file for edit in changes}
    assert {hunk.place.file for hunk in hunks(changes, FILES)} == files
