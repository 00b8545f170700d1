"""Turns the edits of a repair into the lines that it removes and adds."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.findings.finding import Edit
from coherence.reporting._words import column_of, line_of

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # what ends a line in YAML, so that line numbers agree


@dataclass(frozen=True)
class Hunk:
    """Whole lines of a file before and after; `place` is where the first edit stands."""

    place: Place
    removed: tuple[str, ...]
    added: tuple[str, ...]


@functools.lru_cache(maxsize=64)
def lines_of(text: str) -> tuple[str, ...]:
    """Returns the lines of a source, without their ends."""
    return tuple(_BREAK.split(text))


def hunks(edits: Iterable[Edit], sources: Mapping[str, str]) -> list[Hunk]:
    """Returns one hunk for each run of lines that the edits touch, by file and line.

    An edit whose `old` does not stand at its place (or whose file is unknown) is shown as it is.
    """
    groups: list[list[Edit]] = []
    for edit in sorted(set(edits), key=lambda e: (e.place, e.old, e.new)):
        if groups and _touches(groups[-1], edit):
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return [hunk for group in groups for hunk in _hunks(group, sources)]


def _touches(group: Sequence[Edit], edit: Edit) -> bool:
    return group[-1].place.file == edit.place.file and line_of(edit.place) <= max(map(_last_line, group))


def _last_line(edit: Edit) -> int:
    return line_of(edit.place) + edit.old.count("\n")


def _hunks(group: Sequence[Edit], sources: Mapping[str, str]) -> list[Hunk]:
    first, last = line_of(group[0].place), max(map(_last_line, group))
    before = lines_of(sources.get(group[0].place.file, ""))[first - 1 : last]
    after = _applied("\n".join(before), first, group)
    if after is None or len(before) != last - first + 1:
        return [_dedented(edit.place, edit.old.split("\n"), edit.new.split("\n")) for edit in group]
    return [_dedented(group[0].place, before, after.split("\n"))]


def _applied(text: str, first: int, group: Sequence[Edit]) -> str | None:
    """Returns the text after all edits, or None where one does not fit.  The text begins at line `first`."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    following = len(text)
    for edit in reversed(group):
        row = line_of(edit.place) - first
        start = starts[row] + column_of(edit.place) - 1 if row < len(starts) else len(text) + 1
        end = start + len(edit.old)
        if end > following or text[start:end] != edit.old:
            return None
        text, following = text[:start] + edit.new + text[end:], start
    return text


def _dedented(place: Place, before: Sequence[str], after: Sequence[str]) -> Hunk:
    """Returns the hunk without equal lines at either end, common white space, and emptied lines."""
    start = _equal(before, after)
    end = _equal(before[start:][::-1], after[start:][::-1])
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    lines = [line.rstrip() for line in textwrap.dedent("\n".join((*before, *after))).split("\n")]
    return Hunk(place, tuple(filter(None, lines[: len(before)])), tuple(filter(None, lines[len(before) :])))


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    """Returns how many items are equal from the start."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
