"""Draw the pictures of the README from real output: `python docs/images/make.py` runs the commands and writes SVG.

Each command runs on a pseudo-terminal, so that it prints what a person would see, and its text is laid
out cell by cell.  Nothing is drawn by hand: when the output changes, run this again.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# picture -> arguments of `coherence`
PICTURES: dict[str, tuple[str, ...]] = {
    "check.svg": ("check", "specs/throttle-backfill/design.yaml"),
}

COLUMNS = 112
CELL, LINE, SIZE, MARGIN, BAR = 7.8, 18.0, 13, 18, 34  # pixels
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
BACK, TEXT, FRAME = "#161b22", "#d0d7de", "#30363d"
COLOURS = {
    "black": "#6e7681",
    "red": "#ff7b72",
    "green": "#56d364",
    "yellow": "#e3b341",
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#56d4dd",
    "white": "#f0f6fc",
}
_SGR = re.compile(r"\x1b\[([\d;]*)m")
_OTHER = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][AB0]")
# Where a program prints no colours, the first of these that matches gives a line's parts their tint.
_TINTS = (
    re.compile(r"^(?P<red>error\[\w+\]:)(?P<bold>.*)"),
    re.compile(r"^(?P<yellow>warning\[\w+\]:)(?P<bold>.*)"),
    re.compile(r"^(?P<blue>(?:info|proved|undecided|vacuous)\[\w+\]:)(?P<bold>.*)"),
    re.compile(r"^(?P<cyan>help:)(?P<bold>.*)"),
    re.compile(r"^(?P<blue>\s*(?:-->|:::))"),
    re.compile(r"^(?P<blue>\s*\d*\s+\|)(?P<red>\s*[\^~]+.*)"),
    re.compile(r"^(?P<blue>\s*\d*\s*[|=])"),
)


@dataclass(frozen=True, slots=True)
class Style:
    """How a run of characters looks."""

    colour: str = TEXT
    bold: bool = False
    dim: bool = False
    underline: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A run of characters of one look."""

    text: str
    style: Style


def output_of(arguments: Sequence[str]) -> str:
    """What `coherence ARGUMENTS` prints on a terminal.  Raises RuntimeError when it did not do its work (code > 1)."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": str(COLUMNS), "LINES": "50", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "coherence", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    ) as running:
        os.close(theirs)
        text = b"".join(_chunks(ours)).decode().replace("\r\n", "\n")
        complaint = running.stderr.read().decode() if running.stderr else ""
    os.close(ours)
    if running.returncode > 1:
        raise RuntimeError(f"coherence {' '.join(arguments)}: exit code {running.returncode}\n{complaint}")
    return text


def _chunks(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other end is closed
            return
        if not chunk:
            return
        yield chunk


def spans(text: str) -> list[list[Span]]:
    """Terminal text to lines of spans; colours are the escapes' own, or tints where there are none."""
    plain = not _SGR.search(text)
    style, lines = Style(), []
    for line in _OTHER.sub(lambda found: found[0] if found[0].endswith("m") else "", text).rstrip("\n").split("\n"):
        if plain:
            lines.append(_tinted(line))
            continue
        made: list[Span] = []
        pieces = _SGR.split(line)
        for index, piece in enumerate(pieces):
            if index % 2:
                style = _next(style, piece)
            elif piece:
                made.append(Span(piece, style))
        lines.append(made)
    return lines


def _next(style: Style, codes: str) -> Style:
    names = list(COLOURS)
    for code in (int(part or 0) for part in codes.split(";")):
        match code:
            case 0:
                style = Style()
            case 1:
                style = replace(style, bold=True)
            case 2:
                style = replace(style, dim=True)
            case 4:
                style = replace(style, underline=True)
            case 22:
                style = replace(style, bold=False, dim=False)
            case 39:
                style = replace(style, colour=TEXT)
            case _ if 30 <= code <= 37 or 90 <= code <= 97:
                style = replace(style, colour=COLOURS[names[code % 10]])
    return style


def _tinted(line: str) -> list[Span]:
    for pattern in _TINTS:
        found = pattern.match(line)
        if found is None:
            continue
        parts = [Span(text, _named(name)) for name, text in found.groupdict().items() if text]
        return [*parts, Span(line[found.end() :], Style())] if line[found.end() :] else parts
    return [Span(line, Style())] if line else []


def _named(name: str) -> Style:
    return Style(bold=True) if name == "bold" else Style(colour=COLOURS[name], bold=name in {"red", "yellow"})


def width(text: str) -> int:
    """Cells that the text takes: two for wide characters, none for combining ones."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def drawing(title: str, lines: Iterable[Sequence[Span]]) -> str:
    """One SVG with a window bar, the command as its title, and the lines below."""
    rows = list(lines)
    cells = max([COLUMNS // 2, width(title) + 12, *(sum(width(span.text) for span in row) for row in rows)])
    wide, high = round(cells * CELL + 2 * MARGIN), round(len(rows) * LINE + BAR + 1.6 * MARGIN)
    dots = "".join(
        f'<circle cx="{MARGIN + 18 * i}" cy="{BAR / 2}" r="5.5" fill="{c}"/>'
        for i, c in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    body = "\n".join(_row(row, MARGIN, BAR + MARGIN + index * LINE) for index, row in enumerate(rows) if row)
    size = f'width="{wide}" height="{high}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {wide} {high}" role="img">
<title>{escape(title)}</title>
<rect {size} rx="8" fill="{BACK}" stroke="{FRAME}"/>
{dots}
<g font-family="{FONTS}" font-size="{SIZE}" xml:space="preserve">
<text x="{wide / 2}" y="{BAR / 2 + 5}" fill="#8b949e" text-anchor="middle">{escape(title)}</text>
{body}
</g>
</svg>
"""


def _row(row: Sequence[Span], x: float, y: float) -> str:
    made = []
    for span in row:
        cells, words = width(span.text), span.text.strip()
        if words:
            start = x + CELL * width(span.text[: span.text.index(words[0])])
            look = f'fill="{span.style.colour}"'
            look += ' font-weight="bold"' if span.style.bold else ""
            look += ' opacity="0.65"' if span.style.dim else ""
            look += ' text-decoration="underline"' if span.style.underline else ""
            # textLength keeps the columns in line whatever font the reader has
            place = f'x="{start:.1f}" y="{y:.1f}" textLength="{width(words) * CELL:.1f}"'
            made.append(f"<text {place} {look}>{escape(words)}</text>")
        x += cells * CELL
    return "".join(made)


def main() -> int:
    """Draw every picture, or those named on the command line."""
    for name in sys.argv[1:] or PICTURES:
        arguments = PICTURES[name]
        picture = drawing(f"coherence {' '.join(arguments)}", spans(output_of(arguments)))
        (HERE / name).write_text(picture, encoding="utf-8")
        print(HERE / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
