"""Lays the design beside its telemetry: nominal and effective capacity by loss, and the indices of coordination."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import FigurePart, note, pictured, reproduced, table
from coherence.causal.answers.answer import Section, TextTable
from coherence.reporting.pictures.markup import Child, Element, h

ORDER, TITLE = 70, "Capacity and losses"
APART = frozenset({"What is logged, and what that leaves open"})  # stands in a section of its own
FIRST = ("Where device time went", "Indices of coordination")


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns what the telemetry says, the ledger and the indices first."""
    if assessment.measured is None:
        return (note("No telemetry was given, so no loss, no index and no share is measured: add --telemetry FILE."),)
    every = [part for part in assessment.telemetry if part.title not in APART]
    every.sort(key=lambda part: FIRST.index(part.title) if part.title in FIRST else len(FIRST))
    shown = [child for part in every for child in section_parts(assessment, part)]
    words = ["fit", assessment.path, *(word for file in assessment.measured.series for word in ("--telemetry", file))]
    words += ["--requests", assessment.measured.requests] if assessment.measured.requests else []
    words += ["--ledger", assessment.measured.ledger] if assessment.measured.ledger else []
    return (*shown, reproduced(*words))


def of_telemetry(assessment: Assessment, title: str) -> Iterator[Child]:
    """Yields what the telemetry says under a title."""
    part = assessment.section(title)
    if part is not None:
        yield from section_parts(assessment, part)


def section_parts(assessment: Assessment, part: Section) -> Iterator[Child]:
    """Yields a section of `coherence fit`: its title, pictures, lines and tables."""
    from coherence.reporting.pictures.figure import Figure

    yield h("h3", part.title)
    if part.panels:
        figure = Figure(f"{part.title}: {assessment.system}", part.panels, 2)
        name = "".join(letter for letter in part.title.lower() if letter.isalpha())
        yield pictured(FigurePart(figure, f"{name}-"), "; ".join(panel.title for panel in part.panels), wide=True)
    for aligned, group in groupby(part.parts, key=_is_aligned):  # lines in columns are one block
        children = list(group)
        if aligned:
            yield _lines("\n".join(child for child in children if isinstance(child, str)))
            continue
        yield from (_table(part.title, child) if isinstance(child, TextTable) else _lines(child) for child in children)


def _is_aligned(part: object) -> bool:
    """Decides whether a part of an answer is text in columns."""
    return isinstance(part, str) and any("  " in row.strip() for row in part.split("\n"))


def _table(title: str, given: TextTable) -> Element:
    numbers = " ".join(str(column) for column in range(given.words, len(given.header)))
    return table(title, given.header, given.rows, numbers=numbers)


def _lines(text: str) -> Element:
    rows = text.split("\n")
    inner = [child for row in rows for child in (row, h("br"))][:-1]
    return (
        h("pre", h("code", *inner), tabindex="0", role="group", aria_label="Answer")
        if _is_aligned(text)
        else h("p", *inner)
    )
