"""The line of progress: on a terminal, in place, and also where nothing is heard for a while."""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING

from coherence.cli import _progress
from coherence.cli._progress import Progress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    """A terminal that says when something was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if "%" in text:
            self.drawn.set()
        return super().write(text)


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Returns a terminal in the place of standard error."""
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_a_share_is_drawn_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr(_progress, "_EVERY", 0.0)
    with Progress("running") as bar:
        bar(0.5, "asking")
        assert f"asking [{'#' * 15}{'.' * 15}]  50%" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_line_is_drawn_where_nothing_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr(_progress, "_SILENT", 0.001)
    with Progress("reading"):
        assert terminal.drawn.wait(60)
    assert "reading [" in terminal.getvalue()


def test_what_is_printed_stands_on_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with Progress("checking") as bar, bar.cleared():
        terminal.write("a result\n")
    assert terminal.getvalue().startswith("\r\x1b[Ka result\n")


def test_nothing_is_drawn_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.StringIO()
    monkeypatch.setattr(sys, "stderr", piped)
    monkeypatch.setattr(_progress, "_EVERY", 0.0)
    with Progress("running") as bar, bar.cleared():
        bar(0.5)
    assert piped.getvalue() == ""
