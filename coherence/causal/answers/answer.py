"""Holds what a section of `coherence fit` says: tables of text, the same as data, findings and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coherence.base.number_text import render_number
from coherence.base.outside_text import visible
from coherence.findings.finding import Finding

if TYPE_CHECKING:
    from coherence.causal.answers.intervals import Estimate
    from coherence.reporting.pictures.figure import Panel


@dataclass(frozen=True)
class TextTable:
    """Rows under a header; the first `words` columns are text, the others are set flush right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


@dataclass(frozen=True)
class Section:
    """One section: lines and tables in order, JSON-able data, findings, panels to draw.

    `cut_short`: it names what was not answered, for the time was over or the run was stopped.
    `headline`: its answer as a sentence.  `brief`: what of it stands on one screen; None: its tables cut short.
    """

    title: str
    parts: tuple[str | TextTable, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    panels: tuple[Panel, ...] = ()
    cut_short: bool = False
    headline: str = ""
    brief: tuple[str | TextTable, ...] | None = None


def render_interval(found: Estimate) -> str:
    """`low .. high`, or nothing where nothing is uncertain."""
    low, high = render_number(found.low), render_number(found.high)
    return "" if low == high else f"{low} .. {high}"


def estimate_to_dict(found: Estimate) -> dict[str, float | None]:
    """An estimate as JSON: a number that is not known is null."""
    figures = {"value": found.value, "low": found.low, "high": found.high, "error": found.error}
    return {name: figure if math.isfinite(figure) else None for name, figure in figures.items()}


def render_answers(answers: Iterable[Section]) -> str:
    """All sections for a terminal."""
    return "\n".join(render_section(section.title, section.parts) for section in answers)


def render_section(title: str, parts: Iterable[str | TextTable]) -> str:
    """A title with lines and tables below it."""
    lines = [title]
    for part in parts:
        inner = render_table(part) if isinstance(part, TextTable) else map(visible, part.split("\n"))
        lines += [f"  {line}" for line in inner]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def render_table(table: TextTable) -> list[str]:
    """The lines of a table."""
    rows = [tuple(map(visible, row)) for row in (table.header, *table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    return [_line(row, widths, table.words) for row in rows]


def _line(row: Sequence[str], widths: Sequence[int], words: int) -> str:
    cells = zip(row, widths, strict=True)
    return "  ".join(cell.ljust(width) if at < words else cell.rjust(width) for at, (cell, width) in enumerate(cells))
