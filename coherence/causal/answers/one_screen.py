"""Renders the sections of `coherence fit` on one screen: a sentence, the largest figures, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from coherence.base.outside_text import visible
from coherence.causal.answers.answer import Section, TextTable, render_section

MOST = 5  # rows of a table, lines of a section


def render_screen(sections: Sequence[Section]) -> str:
    """Returns the first headline, then each section in brief; a last line names what stands with `--full` alone."""
    headline = next((section.headline for section in sections if section.headline), "")
    blocks = [f"{visible(headline)}\n"] if headline else []
    blocks += [render_section(one.title, brief) for one in sections if (brief := brief_of(one))]
    left = ["every row and note", *(visible(one.title) for one in sections if one.parts and not brief_of(one))]
    short = any(brief_of(section) != section.parts for section in sections)
    return "\n".join(blocks) + (f"\nmore with --full: {'; '.join(left)}\n" if short else "")


def brief_of(section: Section) -> tuple[str | TextTable, ...]:
    """Returns what of a section stands on one screen."""
    return section.brief if section.brief is not None else tuple(cut_short(section.parts))


def cut_short(parts: Iterable[str | TextTable], *, most: int = MOST) -> Iterator[str | TextTable]:
    """Yields tables with at most so many rows, then at most so many lines, and counts of what is left out."""
    parts = tuple(parts)
    for table in (part for part in parts if isinstance(part, TextTable)):
        yield from first_rows(table, most=most)
    yield from first_lines((part for part in parts if isinstance(part, str)), most=most)


def first_lines(lines: Iterable[str], *, most: int = MOST) -> Iterator[str]:
    """Yields at most so many lines, and the count of the others."""
    every = list(lines)
    yield from every[:most]
    if len(every) > most:
        yield f"and {len(every) - most} more"


def first_rows(table: TextTable, *, most: int = MOST, last: int = 0) -> Iterator[str | TextTable]:
    """Yields a table of its first rows and its `last` ones, and the count of the others."""
    body, tail = table.rows[: len(table.rows) - last], table.rows[len(table.rows) - last :]
    left = len(body) - most
    yield table if left <= 0 else replace(table, rows=(*body[:most], *tail))
    if left > 0:
        yield f"and {left} {'smaller' if last else 'more'}"


def alike(reasons: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yields `a, b and 3 more: why` once for each reason."""
    names: dict[str, list[str]] = {}
    for name, why in reasons:
        names.setdefault(why, []).append(name)
    for why, of in names.items():
        yield f"{listed_names(of)}: {why}"


def listed_names(names: Sequence[str], *, most: int = 3) -> str:
    """Returns `a, b, c and 4 more`."""
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
