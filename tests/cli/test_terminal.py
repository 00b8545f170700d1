"""Colours where they are wanted, and nothing of foreign text that a terminal would obey."""

from __future__ import annotations

import io
import sys

import pytest

from coherence.cli._terminal import draws, is_coloured, safe_output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "stream", "wanted"),
    [
        ({}, Terminal(), True),
        ({}, io.StringIO(), False),
        ({"NO_COLOR": "1"}, Terminal(), False),
        ({"NO_COLOR": ""}, Terminal(), True),
        ({"TERM": "dumb"}, Terminal(), False),
        ({"FORCE_COLOR": "1"}, io.StringIO(), True),
    ],
)
def test_colours(
    environment: dict[str, str], stream: io.StringIO, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert is_coloured(stream) is wanted


def test_a_dumb_terminal_draws_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert not draws(Terminal())


def test_standard_output_shows_what_it_would_obey(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with safe_output():
        sys.stdout.write("\x1b]0;pwn\x07\x1b[1;31mred\x1b[0m\tof\n\x1b[2J\r\u202e")
    assert out.getvalue() == "\\x1b]0;pwn\\x07\x1b[1;31mred\x1b[0m\tof\n\\x1b[2J\\r\\u202e"
    assert sys.stdout is out


def test_neither_output_shows_a_credential(monkeypatch: pytest.MonkeyPatch) -> None:
    out, error = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", error)
    with safe_output():
        sys.stdout.write("password=hunter2\nthe key:\n  value\n")
        sys.stderr.write("\rhttp://u:p@host [###] 10%\x1b[K")
    assert out.getvalue() == "password=***\nthe key:\n  value\n"
    assert error.getvalue() == "\rhttp://***@host [###] 10%\x1b[K"
