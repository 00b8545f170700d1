"""The text format of protocol buffers: fields, blocks, lists, strings, and the place of what is none."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.importers._protobuf_text import read
from coherence.language.document import Table
from tests.plain_trees import plain


def root(text: str) -> object:
    return plain(read(text, "config.pbtxt").root)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", {}),
        ("a: 1 b: -2.5e3, c: TYPE_FP32; d: true", {"a": "1", "b": "-2.5e3", "c": "TYPE_FP32", "d": "true"}),
        ("a { } b: { } c < x: 1 >", {"a": {}, "b": {}, "c": {"x": "1"}}),
        ("a [ {x: 1}, {x: 2} ] b: [1, 2] c: []", {"a": [{"x": "1"}, {"x": "2"}], "b": ["1", "2"], "c": []}),
        ("a: 1 a: 2 a: [3, 4]", {"a": ["1", "2", "3", "4"]}),
        ("a { x: 1 } a { x: 2 }", {"a": [{"x": "1"}, {"x": "2"}]}),
        ('# { comment\nname: "a" \'b\' # " more\n', {"name": "ab"}),
        (r'a: "\"\x41\102\n{"', {"a": '"AB\n{'}),
        ("[type.googleapis.com/a.B] { x: 1 }", {"[type.googleapis.com/a.B]": {"x": "1"}}),
        ("a: - 5", {"a": "-5"}),
        ('a: "}" b { c: "}" }', {"a": "}", "b": {"c": "}"}}),
    ],
)
def test_fields_are_read(text: str, fields: object) -> None:
    assert root(text) == fields


def test_every_value_keeps_its_place() -> None:
    message = read("# x\na {\n  b: 7\n}\n", "config.pbtxt").root
    assert isinstance(message, Table)
    inner = message.get("a")
    assert isinstance(inner, Table)
    value = inner.get("b")
    assert value is not None
    assert (value.place.line, value.place.column, inner.key_place("b").column) == (3, 6, 3)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a {", "1:1"),
        ("a: }", "1:4"),
        ("}", "1:1"),
        ("a: 'open", "1:4"),
        ("a: @", "1:4"),
        ("a [1, 2", "1:1"),
        ("[a.b", "1:1"),
        ("a", "1:1"),
        ("a { " * 100, "1:"),
        ("a [ " * 100, "1:"),
        ("a: " + "[" * 5000, "1:"),
    ],
)
def test_what_is_no_field_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InputError, match=f"config.pbtxt:{place}"):
        read(text, "config.pbtxt")


@given(st.text(alphabet="ab:{}[]<>,;\"'#\\-1. \n", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(read(text, "config.pbtxt").root, Table)
