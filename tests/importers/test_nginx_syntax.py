"""The syntax of nginx: words, quotes, comments and blocks, each with its place, and what does not end."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.importers._nginx_syntax import DEEPEST, ROOT, read
from coherence.language.document import Scalar, Table
from tests.plain_trees import plain


def block(text: str) -> Table:
    root = read(text, "a.conf").root
    assert isinstance(root, Table)
    inner = root.entries["nginx"]
    assert isinstance(inner, Table)
    return inner


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", {}),
        ("a b c; # d;\n", {"a": "b c"}),
        ("a;b{}", {"a": "", "b": {"of": ""}}),
        ("location ~ /x { a 1; a 2; }", {"location": {"of": "~ /x", "a": ["1", "2"]}}),
        ("a 'b;{}' \"c d\";", {"a": "b;{} c d"}),
        ("a b\\;c;", {"a": "b\\;c"}),
        ("a ${b}c;", {"a": "${b}c"}),
        ("a x#y;", {"a": "x#y"}),
    ],
)
def test_directives_are_a_tree(text: str, tree: object) -> None:
    assert plain(block(text)) == tree


def test_a_value_stands_where_it_is_written() -> None:
    value = block("http {\n  proxy_read_timeout  1m 30s;\n}").entries["http"]
    assert isinstance(value, Table)
    assert str(value.entries["proxy_read_timeout"].place) == "a.conf:2:23"
    assert value.entries["proxy_read_timeout"].place.end_column == 29


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a {", "a.conf:1:3: this block does not end"),
        ("a }", "a.conf:1:1: 'a' is not ended"),
        ("}", "a.conf:1:1: this } closes no block"),
        ("a\nb", "a.conf:1:1: 'a' is not ended"),
        ("a 'b", "a.conf:1:3: a quote or an escape does not end"),
        (";", "a.conf:1:1: a directive is missing here"),
        ("a { " * (DEEPEST + 2), "blocks inside each other"),
    ],
)
def test_what_does_not_end_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read(text, "a.conf")


@given(st.text("ab;{}#'\"\\ \n$", max_size=40))
def test_any_text_is_a_tree_or_an_error_of_input(text: str) -> None:
    try:
        read(text, "a.conf")
    except InputError as error:
        assert error.problems  # noqa: PT017


def test_a_block_of_lua_is_skipped() -> None:
    lua = """content_by_lua_block {
        local x = {1} -- don't }
        ngx.say("it's } {", [[ } ]], '}') --[[ } ]]
    }
    return 200;"""
    block = read(f"location / {{ {lua} }} events {{}}", "a.conf").root
    assert isinstance(block, Table)
    top = block.get(ROOT)
    assert isinstance(top, Table)
    location = top.get("location")
    assert isinstance(location, Table)
    assert list(top.entries) == ["location", "events"]
    assert list(location.entries) == ["content_by_lua_block", "return", "of"]
    assert location.key_place("return").line == 5


def test_a_block_of_lua_that_does_not_end_is_refused() -> None:
    with pytest.raises(InputError, match="does not end"):
        read('access_by_lua_block { if x then "}"', "a.conf")


def test_a_quote_inside_a_word_is_a_letter() -> None:
    root = read("return 200 it's;", "a.conf").root
    assert isinstance(root, Table)
    top = root.get(ROOT)
    assert isinstance(top, Table)
    assert top.get("return") == Scalar("200 it's", Place("a.conf", 1, 8, 1, 16))
