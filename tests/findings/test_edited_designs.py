"""A design with another value is the design that is read from the text with that value; nothing else is read again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench._verify_scale import large
from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.edited_designs import edited_subject, with_values
from coherence.findings.finding import Edit
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.reading import read_text
from tests.case_files import CASES, cases
from tests.draws import few

FILE = "design.yaml"
SPECS = sorted((Path(__file__).parents[2] / "specs").glob("*/design.yaml"))
NUMBER = re.compile(r"(?<![A-Za-z_])\d+(?:\.\d+)?")
TEXT = """coherence: 1
workload: {users: {rate: 5 req/s .. 9 req/s}}
components:
  back: {takes: {answer: {varies: 1 s .. 2 s}}, copies: 3, share: "20 %", twin: &pace 4 s, other: *pace}
calls:
  - {from: users, to: back, deadline: 40 s, per_try: 20 s, tries: [1, 23]}
  - {from: front, to: back, deadline: 60 s, per_try: unlimited}
loops:
  shed:
    uses: kubernetes_hpa
    target: {signal: back.used, setpoint: 70 %, sensor: [scrape 30 s, mean 2 min]}
    trigger: back.used > 5 and back.share < 9
    actuation: {signal: back.copies, bounds: [1, 88]}
limits: {gone: {counts: back.ejected, at_most: 44 %}}
promises: {soon: after back.answer starts then back.answer ends within 3 s}
"""


def edit(old: str, new: str, text: str = TEXT) -> Edit:
    """The edit of the only place where the old text stands."""
    assert text.count(old) == 1
    before = text[: text.index(old)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Edit(Place(FILE, line, column, line, column + len(old)), old, new)


def read_after(*edits: Edit, text: str = TEXT) -> Design:
    """The design as it is read from the edited text."""
    return read_text(repairs.applied(edits, {FILE: text})[FILE], FILE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("20 s", "17.3 s"), ("unlimited", "2 min"), ("23", "4"), ("5 req/s .. 9 req/s", "7 req/s"),
        ("1 s .. 2 s", "3 s"), ('"20 %"', '"30 %"'), ("30 s", "7 s"), ("> 5", "> 12"), ("70 %", "0 %"),
        ("5 and back.share < 9", "5 and back.share < 1 or back.used < 2"), ("within 3 s", "within 9 s"),
        ("88", "unset"), ("44 %", "77 %"), ("44 %", "1"),
    ],
)  # fmt: skip
def test_another_value_gives_the_design_of_the_edited_text(old: str, new: str) -> None:
    change, design = edit(old, new), read_text(TEXT, FILE)
    after = with_values(design, [change], {FILE: TEXT})
    assert after == read_after(change) != design


def test_every_other_value_is_the_same_object() -> None:
    before = read_text(TEXT, FILE)
    after = with_values(before, [edit("20 s", "10 s")], {FILE: TEXT})
    assert after is not None
    assert after.loops is before.loops
    assert after.calls[1] is before.calls[1]
    assert after.calls[0].deadline is before.calls[0].deadline
    assert str(after.calls[0].per_try) == "10 s"


def test_two_numbers_of_one_expression_change_at_once() -> None:
    edits = [edit("> 5", "> 55"), edit("< 9", "< 99")]
    assert with_values(read_text(TEXT, FILE), edits, {FILE: TEXT}) == read_after(*edits)


@pytest.mark.parametrize(
    "change",
    [
        edit("40 s", "40 s, pause: 1 s"),  # another key
        edit("&pace 4 s", "5 s"),  # stands elsewhere too
        edit("coherence: 1", "coherence: 2"),
        edit("kubernetes_hpa", "other_part"),
        edit("20 s", "'20 s"),
        edit("20 s", "20 s #"),
        edit("20 s", ""),
    ],
)
def test_what_is_more_than_a_value_is_left_to_the_text(change: Edit) -> None:
    assert with_values(read_text(TEXT, FILE), [change], {FILE: TEXT}) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("20 s", "20 MB", "duration expected"), ("40 s", "9 s .. 3 s", "empty"),
     ("> 5", "> 5 .. 9", "'.' is not used in expressions"), ("back.used > 5", "bakc.used > 5", "did you mean 'back'")],
)  # fmt: skip
def test_a_value_that_cannot_stand_there_is_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        with_values(read_text(TEXT, FILE), [edit(old, new)], {FILE: TEXT})
    with pytest.raises(InputError, match=re.escape(words)):
        read_after(edit(old, new))


def rebuild(sources: Mapping[str, str]) -> Design:
    return read_text(sources[FILE], FILE)


def test_an_edit_of_the_text_has_the_text_read() -> None:
    subject = Subject(read_text(TEXT, FILE), {FILE: TEXT})
    change = edit("40 s", "40 s, pause: 1 s")
    after = edited_subject(subject, [change], rebuild)
    assert after is not None
    assert after.design == read_after(change)
    assert after.sources == repairs.applied([change], subject.sources)


def test_a_value_is_edited_without_reading_the_text() -> None:
    subject = Subject(read_text(TEXT, FILE), {FILE: TEXT}, 7.0)

    def refuse(_sources: Mapping[str, str]) -> Design:
        raise AssertionError("the text is read")

    after = edited_subject(subject, [edit("40 s", "50 s")], refuse)
    assert after is not None
    assert (after.sources, after.time_limit) == (subject.sources, 7.0)


def test_an_edit_that_does_not_fit_gives_nothing() -> None:
    subject, change = Subject(read_text(TEXT, FILE), {FILE: TEXT}), edit("40 s", "50 s")
    assert edited_subject(subject, [Edit(change.place, "41 s", "50 s")], rebuild) is None
    assert edited_subject(subject, [change, Edit(change.place, "40 s", "60 s")], rebuild) is None


def outcome(text: str) -> Design | None:
    try:
        return read_text(text, FILE)
    except InputError:
        return None


TEXTS = (
    st.sampled_from(SPECS).map(lambda path: path.read_text(encoding="utf-8"))
    | st.integers(0, 9).map(lambda seed: large(20, seed=seed))
    | st.sampled_from([case for case in cases(CASES) if not (case.manifests or case.signals)]).map(
        lambda case: case.text
    )
)


@pytest.mark.slow
@settings(max_examples=few(150), deadline=None)
@given(TEXTS.filter(lambda text: outcome(text) is not None), st.data())
def test_any_number_of_a_design_is_edited_as_its_text(text: str, data: st.DataObject) -> None:
    match = data.draw(st.sampled_from([m for m in NUMBER.finditer(text) if m.start() > text.index("\n")]))
    line, column = text[: match.start()].count("\n") + 1, match.start() - text.rfind("\n", 0, match.start())
    place = Place(FILE, line, column, line, column + len(match[0]))
    change = Edit(place, match[0], data.draw(st.sampled_from(["0", "1", "7", "0.5", "1e3", "5 .. 9", "3 s", "-2"])))
    try:
        after = with_values(read_text(text, FILE), [change], {FILE: text})
    except InputError:
        assert outcome(repairs.applied([change], {FILE: text})[FILE]) is None
        return
    assert after is None or after == outcome(repairs.applied([change], {FILE: text})[FILE])
