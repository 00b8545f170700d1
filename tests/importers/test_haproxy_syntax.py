"""The syntax of HAProxy: sections, directives of one and two words, quotes, comments, each with its place."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.importers._haproxy_syntax import ROOT, read
from coherence.language.document import Items, Table
from tests.plain_trees import plain


def sections(text: str) -> Items:
    root = read(text, "a.cfg").root
    assert isinstance(root, Table)
    inner = root.entries[ROOT]
    assert isinstance(inner, Items)
    return inner


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", []),
        ("# only a comment\n", []),
        ("global\n daemon\n", [{"section": "global", "daemon": ""}]),
        ("backend a # b\n  retries 3\n", [{"section": "backend", "of": "a", "retries": "3"}]),
        ("defaults\n timeout connect 5s\n option httplog\n no option redispatch\n", [
            {"section": "defaults", "timeout connect": "5s", "option httplog": "", "no option redispatch": ""},
        ]),
        ("listen x\n server a b:1\n server c d:2 check\n", [
            {"section": "listen", "of": "x", "server": ["a b:1", "c d:2 check"]},
        ]),
        ("backend a\n http-check send uri \"/a b#c\" x\\ y 'z\\'\n", [
            {"section": "backend", "of": "a", "http-check send": "uri /a b#c x y z\\"},
        ]),
    ],
)  # fmt: skip
def test_lines_are_a_tree(text: str, tree: object) -> None:
    assert plain(sections(text)) == tree


def test_a_value_stands_where_it_is_written() -> None:
    (section,) = sections("backend a\n  timeout server 30s # note\n")
    assert isinstance(section, Table)
    place = section.entries["timeout server"].place
    assert (place.line, place.column, place.end_column) == (2, 18, 21)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[metadata]\n", "stands in no section"),
        ("retries 3\n", "stands in no section"),
        ('backend a\n log-format "x\n', "does not end"),
        ("backend a\n log-format 'x\n", "does not end"),
        ("backend a\n x \\", "does not end"),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text, "a.cfg")


@given(st.text(alphabet="backend globl\n \t#\"'\\${}x1:.", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(read(text, "a.cfg").root, Table)
