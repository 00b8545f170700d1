"""Room for one more member in places: slots are counted place by place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.room_in_places import fewer_fit, room_in_places

RULE = "placement: {web: [spread by zone <= 1]}"


def enough(places: str, count: int, more: str = "") -> bool | None:
    """Returns whether one more member of two gpu each has a place beside `count` of them."""
    text = f"coherence: 1\ncomponents: {{web: {{copies: {count}, needs: {{gpu: 2}}}}}}\nplaces: {{{places}}}\n{more}"
    subject = Subject(read_text(text, "case.yaml"))
    return room_in_places(known(subject), subject.design.components["web"], count).enough


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), st.integers(1, 12))
def test_there_is_room_where_the_places_take_more_members_than_there_are(sizes: list[int], count: int) -> None:
    places = ", ".join(f"p{k}: {{gpu: {size}}}" for k, size in enumerate(sizes))
    assert enough(places, count) is (sum(size // 2 for size in sizes) > count)


@pytest.mark.parametrize(("second", "expected"), [(4, True), (0, False)])
def test_a_rule_may_forbid_the_place_that_is_left(second: int, expected: bool) -> None:
    places = f"a: {{zone: a, gpu: 8}}, b: {{zone: b, gpu: {second}}}"
    assert enough(places, 2 if second else 1, RULE) is expected


def test_what_a_place_does_not_state_is_missing() -> None:
    assert enough("a: {gpu: 8}, b: {zone: b}", 1) is None


@given(st.integers(1, 5), st.integers(0, 5), st.integers(0, 9), st.integers(1, 8), st.booleans())
def test_fewer_fit_where_the_places_that_are_left_take_fewer(
    others: int, left: int, size: int, count: int, ruled: bool
) -> None:
    text = (
        f"coherence: 1\ncomponents: {{web: {{copies: 9, needs: {{gpu: 2}}}}}}\n"
        f"places: {{n: {{count: 5, gpu: {size}, lost: 1}}, m: {{count: {others}, gpu: 2}}}}\n"
        + ("placement: {web: [at most 1 by node]}" if ruled else "")
    )
    subject = Subject(read_text(text, "case.yaml"))
    each = min(size // 2, 1) if ruled else size // 2
    fewer = fewer_fit(known(subject), subject.design.components["web"], count, {"n": left})
    assert fewer is (each * left + others < count)
