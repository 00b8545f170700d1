"""The table of words: each has one meaning, and the page and the schema list them all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from coherence.language.pages.schema import design_schema
from coherence.language.words import (  # fmt: skip
    ACTIONS,
    ACTIVITIES,
    BEGUN_AGAIN,
    CAUSES,
    CONDITIONS,
    COUNTS,
    EVENTS,
    MARKED,
    OVER,
    PAUSES,
    STATES,
    TOKENS,
    plain_word,
    render_table,
)

PAGE = Path(__file__).parents[2] / "docs" / "words.md"
TABLES = (ACTIVITIES, CAUSES, COUNTS, EVENTS, STATES, ACTIONS, CONDITIONS, MARKED, TOKENS)


@pytest.mark.parametrize("table", TABLES)
def test_no_word_has_two_meanings_in_a_table(table: Mapping[str, tuple[str, ...]]) -> None:
    words = [word for row in table.values() for word in row]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("table", TABLES)
def test_the_page_lists_every_row(table: Mapping[str, tuple[str, ...]]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for meaning, words in table.items():
        assert f"| {meaning} | {', '.join(f'`{word}`' for word in words)} |" in page


def test_the_page_names_every_word_of_a_pause() -> None:
    (line,) = [row for row in PAGE.read_text(encoding="utf-8").splitlines() if "a thing stands still" in row]
    assert [word for word in PAUSES if f"`{word}`" in line] == [*PAUSES]


@pytest.mark.parametrize("words", [OVER, BEGUN_AGAIN])
def test_the_page_names_every_word_of_a_crash_loop(words: frozenset[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert not [word for word in words if f"`{word}`" not in page.rpartition("What failed is begun again")[2]]


def test_the_schema_says_which_names_have_a_role() -> None:
    roles = design_schema()["$defs"]["Component"]["properties"]["roles"]
    assert roles["additionalProperties"]["enum"] == list(ACTIVITIES)
    assert render_table(ACTIVITIES) in roles["description"]


def test_a_cause_of_several_parts_is_one_word() -> None:
    assert plain_word(" Gateway-Timeout ") == plain_word("gateway timeout") == "gateway_timeout"
