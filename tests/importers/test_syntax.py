"""Tokens of formats of their own with their places, words that are joined, and values that are written again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.importers._syntax import Token, joined, put_again, tokens
from coherence.language.document import Items, Scalar, Table

PATTERN = re.compile(r"\s+|(?P<word>[a-z]+)|(?P<mark>;)")
AT = Place("f", 1, 1, 1, 1)


def read(text: str) -> list[Token]:
    return list(tokens(text, "f", PATTERN, lambda rest: (f"'{rest}' is no token", "write letters")))


def test_tokens_have_their_kind_and_their_place() -> None:
    assert [(it.text, it.kind, it.place.line, it.place.column) for it in read("ab\n  c;")] == [
        ("ab", "word", 1, 1),
        ("c", "word", 2, 3),
        (";", "mark", 2, 4),
    ]


@given(st.text("ab; \n", max_size=40))
def test_every_token_stands_where_its_place_says(text: str) -> None:
    lines = text.split("\n")
    assert all(lines[it.place.line - 1][it.place.column - 1 :].startswith(it.text) for it in read(text))


def test_what_is_no_token_is_refused_at_its_place() -> None:
    with pytest.raises(InputError, match=r"f:2:2: '1' is no token"):
        read("a\nb1")


def test_words_are_joined_with_the_place_of_all_of_them() -> None:
    words = [("a", Place("f", 3, 2, 3, 3)), ("b", Place("f", 3, 9, 3, 10))]
    assert joined(words, AT) == Scalar("a b", Place("f", 3, 2, 3, 10))
    assert joined([], AT) == Scalar("", AT)


def test_what_is_written_again_is_a_list() -> None:
    table = Table({}, {}, AT)
    put_again(table, "a", AT, Scalar("1", AT))
    assert table.entries["a"] == Scalar("1", AT)
    put_again(table, "a", AT, Scalar("2", AT))
    put_again(table, "a", AT, Items([Scalar("3", AT), Scalar("4", AT)], AT))
    values = table.entries["a"]
    assert isinstance(values, Items)
    assert [it.text for it in values if isinstance(it, Scalar)] == ["1", "2", "3", "4"]
