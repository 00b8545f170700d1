"""Envoy's words: what is retried, how long the pauses are, and zero as no limit."""

from __future__ import annotations

import pytest

from coherence.importers import _envoy_words as envoy
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.language import document
from coherence.language.document import Scalar, Table
from coherence.language.schema_kinds import Reading


def view(text: str) -> FieldView:
    root = document.read_text(text, "a.yaml")[0].root
    assert isinstance(root, Table)
    return Manifest(root, "a.yaml", Reading(), "x").top


@pytest.mark.parametrize(
    ("words", "causes"),
    [
        ("connect-failure,refused-stream", ["connect_failure", "refused_stream"]),
        ("503", ["unavailable"]),
        ("418", ["status_418"]),
        ("reset, connect-failure", ["timeout", "reset", "connect_failure", "refused_stream"]),
        ("deadline-exceeded", ["deadline_exceeded"]),
    ],
)
def test_each_cause_is_there_once(words: str, causes: list[str]) -> None:
    read = envoy.retry_causes(view(f"on: '{words}'"), "on")
    assert read is not None
    assert [cause.text for cause in read if isinstance(cause, Scalar)] == causes


def test_a_cause_stands_where_its_word_stands() -> None:
    read = envoy.retry_causes(view("on: 5xx,refused-stream,418"), "on")
    assert read is not None
    assert [cause.place.column for cause in read] == [5, 5, 5, 5, 5, 24]


def test_words_alone_that_add_nothing_are_no_causes() -> None:
    assert envoy.retry_causes(view("on: retriable-status-codes"), "on") is None
    assert envoy.retry_causes(view("a: 1"), "on") is None


@pytest.mark.parametrize(("written", "text"), [("2s", "2 s"), ("0s", None), ("0.5s", "500 ms")])
def test_zero_is_no_limit(written: str, text: str | None) -> None:
    read = envoy.limit(view(f"t: {written}"), "t")
    assert (read.text if read else None) == text


def test_the_longest_pause_is_ten_times_the_first() -> None:
    base = envoy.limit(view("t: 25ms"), "t")
    assert base is not None
    pause = envoy.pause(base)
    assert isinstance(pause, Table)
    assert {key: node.text for key, node in pause.entries.items() if isinstance(node, Scalar)} == {
        "base": "25 ms", "cap": "250 ms",
    }  # fmt: skip
