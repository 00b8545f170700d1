"""Hover and completion of declarations, quantities and parts."""

from __future__ import annotations

import pytest

from coherence.editing.suggestions import hover, suggestions

TEXT = "coherence: 1\nloops:\n  hpa:\n    uses: kubernetes_hpa\n    timescale: {period: 15 s .. 1 min}\n"


def test_a_value_says_its_words_and_its_si_value() -> None:
    words = hover(TEXT, 5, 28)
    assert words is not None
    assert words.startswith("`loops.hpa.timescale.period`\n\n*a duration")
    assert "In SI: 15 .. 60 s" in words


def test_a_part_says_its_page_with_its_sources_and_a_name_nothing() -> None:
    assert "from: " in str(hover(TEXT, 4, 14))
    assert hover(TEXT, 3, 4) is None
    assert hover("a: [", 1, 1) is None


@pytest.mark.parametrize(
    ("here", "label", "other"),
    [
        ("", "loops", "period"),
        ("loops: {hpa: {timescale: {", "period", "loops"),
        ("loops: {hpa: {uses: ku", "kubernetes_hpa", "inference_server"),
        ("overlays: ", "manifests", "loops"),
        ("calls: [{deadline: ", "absent", "deadline"),
    ],
)
def test_what_may_be_written(here: str, label: str, other: str) -> None:
    labels = {word.label for word in suggestions(here, 1, len(here) + 1)}
    assert label in labels
    assert other not in labels


@pytest.mark.parametrize("here", ["calls: [{deadline: 2 ", "loops: # {", "loops: {hpa: {trigger: web.queue > "])
def test_nothing_is_offered_within_numbers_formulas_and_comments(here: str) -> None:
    assert not list(suggestions(here, 1, len(here) + 1))


ORDERS = (
    "coherence: 1\nworkload: {shoppers: {rate: 5 req/s}}\n"
    "components:\n  web: {uses: queue, served_by: pods}\n  pods: {}\n"
)


@pytest.mark.parametrize(
    "here", ["calls: [{from: ", "calls: [{from: sho", "  more: {uses: queue, served_by: ", "calls:\n  - from: "]
)
def test_names_that_the_text_declares_are_offered_where_a_name_stands(here: str) -> None:
    text = ORDERS + here
    lines = text.split("\n")
    offered = {word.label: word.detail for word in suggestions(text, len(lines), len(lines[-1]) + 1)}
    assert offered == {"shoppers": "workload", "web": "components", "pods": "components"}


def test_a_name_says_where_it_is_declared() -> None:
    assert "`pods`: components, line 5" in str(hover(ORDERS, 4, 34))
    called = f"{ORDERS}calls: [{{from: shoppers, to: web}}]\n"
    assert "`shoppers`: workload, line 2" in str(hover(called, 6, 17))
    assert hover("components: {web: {served_by: nothing}}", 1, 33) is None
