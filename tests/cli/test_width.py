"""Lines at the width of a terminal."""

from __future__ import annotations

import pytest

from coherence.cli._width import terminal_width, wrapped

TEXT = "head\n  a line of some words that is longer than the others\n\nhttps://example.org/a-very-long-address-without-a-space"


def test_a_pipe_keeps_its_lines() -> None:
    assert terminal_width() is None  # pytest reads the output
    assert wrapped(TEXT, None) == TEXT


@pytest.mark.parametrize("width", [20, 40, 60, 200])
def test_no_line_is_wider_but_a_single_word(width: int) -> None:
    lines = wrapped(TEXT, width).split("\n")
    assert all(len(line) <= width or " " not in line.strip() for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(TEXT.split())


def test_what_goes_on_is_indented_further() -> None:
    assert wrapped(TEXT, 40).split("\n")[1:3] == ["  a line of some words that is longer", "    than the others"]
    assert wrapped(TEXT, 200) == TEXT


def test_source_tables_and_what_is_fenced_keep_their_lines() -> None:
    kept = (
        "12 | a: {b: one line of source that is longer than the terminal is wide}",
        "name of a thing       a second column of the table      third",
        "```yaml\n- {a: a line of YAML in a page that is longer than the terminal}\n```",
    )
    assert all(wrapped(text, 40) == text for text in kept)


def test_colours_take_no_room() -> None:
    words = ["\x1b[1mword\x1b[0m"] * 8
    assert wrapped(" ".join(words), 40) == " ".join(words)
    assert wrapped(" ".join([*words, *words[:7]]), 40).count("\n") == 1
