"""YAML with places: what stands where, what is refused, and that size and depth stay bounded."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import Problem
from coherence.base.places import Place
from coherence.findings.repairs import text_at
from coherence.language import document
from coherence.language.document import MAX_BYTES, MAX_DEPTH, Items, Node, Scalar, Table
from tests.plain_trees import plain
from tests.strategies import block_yaml, flow_yaml, problems_in, scraps, yaml_trees

MIXED = """\
# a comment
coherence: 1
loops:
  hpa:
    timescale: {period: 15 s, hold_down: '5 min'}
    rules:
      - {when: x > 1, by: +5}
note: |
  two
  lines
"""


def root_of(text: str) -> Node:
    """The only document of a text."""
    return document.read_text(text, "f.yaml")[0].root


def problems_of(data: str | bytes) -> tuple[Problem, ...]:
    """What is wrong with it."""
    found = problems_in(
        lambda: document.read_text(data, "f.yaml") if isinstance(data, str) else document.read(data, "f.yaml")
    )
    assert found
    return found


def at(node: Node, *path: str | int) -> Node:
    """The node at a path of keys and indices."""
    for step in path:
        inner = node.items[step] if isinstance(step, int) and isinstance(node, Items) else None
        inner = node.get(step) if isinstance(step, str) and isinstance(node, Table) else inner
        assert inner is not None
        node = inner
    return node


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        (("coherence",), "1", "f.yaml:2:12"),
        (("loops", "hpa", "timescale", "period"), "15 s", "f.yaml:5:25"),
        (("loops", "hpa", "timescale", "hold_down"), "5 min", "f.yaml:5:42"),
        (("loops", "hpa", "rules", 0, "by"), "+5", "f.yaml:7:27"),
        (("note",), "two\nlines\n", "f.yaml:8:7"),
    ],
)
def test_every_value_knows_its_line_and_column(path: tuple[str | int, ...], text: str, shown: str) -> None:
    leaf = at(root_of(MIXED), *path)
    assert isinstance(leaf, Scalar)
    assert (leaf.text, str(leaf.place)) == (text, shown)


def test_keys_and_collections_have_places_too() -> None:
    root = root_of(MIXED)
    inner = at(root, "loops", "hpa", "timescale")
    assert isinstance(inner, Table)
    assert str(inner.key_place("hold_down")) == "f.yaml:5:31"
    assert text_at({"f.yaml": MIXED}, inner.place) == "{period: 15 s, hold_down: '5 min'}"
    assert inner.key_place("absent") == inner.place


def test_numbers_and_booleans_are_recognised_only_when_asked_and_by_the_rules_of_yaml_1_2() -> None:
    root = root_of("{a: 1_000.5, b: '5', c: true, d: yes, e: 1:30, f: 0x10, g: 1e-3, h: .5, i: .inf, j: .nan, k: on}")
    numbers = {key: node.number() for key, node in root.entries.items() if isinstance(node, Scalar)}  # type: ignore[union-attr]
    assert numbers == {"a": Fraction(2001, 2), "g": Fraction(1, 1000)} | dict.fromkeys("bcdefhijk")
    booleans = {key: node.boolean() for key, node in root.entries.items() if isinstance(node, Scalar)}  # type: ignore[union-attr]
    assert {key for key, found in booleans.items() if found is not None} == {"c"}


@pytest.mark.parametrize("text", ["1e1000", "1e999999999", "9" * 401, "1e-99999", "١"])
def test_a_number_never_becomes_astronomically_large(text: str) -> None:
    start = time.thread_time()
    assert Scalar(text, Place("f", 1, 1, 1, 1)).number() is None
    assert time.thread_time() - start < 2


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_null_has_five_spellings(text: str) -> None:
    node = at(root_of(f"a: {text}\n"), "a")
    assert isinstance(node, Scalar)
    assert node.is_null()
    assert not Scalar(text, node.place, quoted=True).is_null()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_endings_and_encodings_leave_lines_and_columns_alone(ending: str, encoding: str) -> None:
    made = document.read(MIXED.replace("\n", ending).encode(encoding), "f.yaml")[0]
    assert made.text == MIXED
    assert str(at(made.root, "loops", "hpa", "rules", 0, "by").place) == "f.yaml:7:27"


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_line_breaks_that_only_yaml_1_1_knows_do_not_shift_lines(character: str) -> None:
    text = f"a: 'x{character}y'  # {character}\nb: 2\n"
    assert str(at(root_of(text), "b").place) == "f.yaml:2:4"


def test_comments_are_kept_with_their_lines() -> None:
    made = document.read_text("a: 1 # one\n# alone\nb: 'x#y'\n", "f")[0]
    assert made.comments == ((1, "one"), (2, "alone"))


@pytest.mark.parametrize(
    ("text", "place", "words", "remedy"),
    [
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3:1", "the key 'a' is written twice", "the first is at line 1"),
        ("a: {b: 1, b: 2}", "f.yaml:1:11", "the key 'b' is written twice", "keep one"),
        ("[x]: 1", "f.yaml:1:1", "a key must be plain text", "name: value"),
        ("a: *x", "f.yaml:1:4", "no anchor &x before this alias", "write the value out"),
        ("a: &x [1, *x]", "f.yaml:1:11", "*x stands inside its own anchor", "write the value out"),
        ("a: &x 1\n---\nb: *x", "f.yaml:3:4", "no anchor &x", "write the value out"),
        ("a: !!python/object:os.system x", "f.yaml:1:4", "python/object:os.system is not used here", "plain value"),
        ("a: !env HOME", "f.yaml:1:4", "the tag !env is not used here", "plain value"),
        ("a: {b", "f.yaml:1:4", "not YAML", "brackets"),
        ("a: 1\nb: c: d\ne: 2\n", "f.yaml:2:5", "not YAML", "indentation"),
        ("\ta: 1", "f.yaml:1:1", "not YAML", "indentation"),
        ("a: {{ .Values.x }}\n", "f.yaml:1:5", "a key must be plain text", "render it first"),
        ("{% if x %}\na: 1\n", "f.yaml:1:2", "not YAML", "render it first"),
        ("a: 1\nb: \x07", "f.yaml:2:4", "not YAML", "control characters"),
        ("a: x\ud800", "f.yaml:1:5", "not YAML", "encoding"),
    ],
)
def test_what_is_refused_says_where_what_and_what_to_do(text: str, place: str, words: str, remedy: str) -> None:
    problem = problems_of(text)[0]
    assert str(problem.place) == place
    assert words in problem.message
    assert remedy in problem.remedy


def test_all_problems_of_a_document_come_at_once() -> None:
    found = problems_of("a: 1\na: 2\nb: !x 3\nc: *y\n[d]: 1\n")
    assert [p.place.line for p in found] == [2, 3, 4, 5]


def test_bytes_that_are_not_text_are_placed_by_character() -> None:
    problem = problems_of("a: 1\né: x".encode() + b"\xff")[0]
    assert (str(problem.place), problem.message) == ("f.yaml:2:5", "byte 0xff is not UTF-8")
    assert "UTF-8" in problems_of("a: é".encode("latin-1"))[0].message
    assert problems_of("a: 1".encode("utf-16-be"))[0].place.line == 1
    assert problems_of("a: 1".encode("utf-32"))


def test_a_tag_that_changes_nothing_is_allowed() -> None:
    assert plain(root_of("a: !!str 5\n")) == {"a": "5"}


def test_aliases_stand_for_what_they_name() -> None:
    assert plain(root_of("a: &x {b: 1}\nc: *x\n")) == {"a": {"b": "1"}, "c": {"b": "1"}}


BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "more than 400000 values"),
        ("a: " + "[" * 100_000, f"deeper than {MAX_DEPTH} levels"),
        ("- " * 100_000, f"deeper than {MAX_DEPTH} levels"),
        ("{a: " * 100_000, f"deeper than {MAX_DEPTH} levels"),
        ("? " * 100_000, f"deeper than {MAX_DEPTH} levels"),
        ("\n".join(" " * i + "a:" for i in range(2000)), f"deeper than {MAX_DEPTH} levels"),
    ],
)
def test_depth_and_size_are_bounded_and_refused_at_once(text: str, words: str) -> None:
    start = time.thread_time()
    assert words in problems_of(text)[-1].message
    assert time.thread_time() - start < 2


def test_too_large_a_file_is_not_read() -> None:
    assert "split it" in problems_of(b"#" * (MAX_BYTES + 1))[0].remedy


def test_several_documents_are_several() -> None:
    assert [plain(d.root) for d in document.read_text("a: 1\n---\nb: 2\n", "f")] == [{"a": "1"}, {"b": "2"}]
    assert document.read_text("# nothing\n", "f") == []


@settings(max_examples=60, deadline=None)
@given(yaml_trees(), st.sampled_from([flow_yaml, block_yaml]))
def test_what_is_written_is_what_is_read(tree: object, write: object) -> None:
    text = write(tree)  # type: ignore[operator]
    assert plain(root_of(text)) == tree


@settings(max_examples=60, deadline=None)
@given(yaml_trees(), st.sampled_from([flow_yaml, block_yaml]))
def test_every_place_shows_its_value(tree: object, write: object) -> None:
    text = write(tree)  # type: ignore[operator]
    sources = {"f.yaml": text}
    stack = [root_of(text)]
    while stack:
        node = stack.pop()
        if isinstance(node, Scalar):
            assert text_at(sources, node.place) == flow_yaml(node.text)
        else:
            stack += [*node] if isinstance(node, Items) else list(node.entries.values())
        if isinstance(node, Table):
            assert all(text_at(sources, place) == flow_yaml(key) for key, place in node.keys.items())


@settings(max_examples=100, deadline=None)
@given(scraps() | st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = problems_in(lambda: document.read_text(text, "f.yaml"))
    assert all(p.place.file == "f.yaml" and p.message and p.remedy for p in found)
    assert found or all(isinstance(d.root, Scalar | Items | Table) for d in document.read_text(text, "f.yaml"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    found = problems_in(lambda: document.read(data, "f.yaml"))
    assert all(p.place.line >= 1 and p.place.column >= 1 and p.remedy for p in found)
