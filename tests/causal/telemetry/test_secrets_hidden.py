"""Credentials that a server says back: hidden in each spelling, alone and beside others."""

from __future__ import annotations

import html
import json
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.causal.telemetry.secrets_hidden import hidden, parts_of

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: urllib.parse.quote(text, safe=""),
    "form": urllib.parse.quote_plus,
    "json": lambda text: json.dumps(text)[1:-1],
    "json without ascii": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "json in json": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "page": html.escape,
}


@pytest.mark.slow
@pytest.mark.parametrize("spelling", SPELLINGS)
@given(secret=st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=5, max_size=12))
def test_every_spelling_is_hidden(spelling: str, secret: str) -> None:
    said = SPELLINGS[spelling](secret)
    assert hidden(f"<{said}>", [secret]) == "<***>"


def test_letters_of_escapes_may_be_small_or_large_and_octets_may_be_read_one_by_one() -> None:
    assert hidden("p%C3%A4 p%c3%a4 p\\u00E4 pÃ¤", ["pä"]) == "*** *** *** ***"


def test_each_of_several_secrets_is_hidden_the_longest_first() -> None:
    assert hidden("ab abc c", ["ab", "", "abc"]) == "*** *** c"
    assert hidden("nothing", []) == "nothing"


def test_a_word_of_a_secret_is_hidden_alone_where_it_is_long() -> None:
    assert parts_of("Key one, second") == ("Key one, second", "second")
