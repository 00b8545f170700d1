"""Draws where the loops settle and where they swing, over the two numbers that decide most, with today's values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import FigurePart, note, pictured, reproduced, table
from coherence.exploring import render_sweep
from coherence.exploring.sweeps import MARKS
from coherence.reporting.pictures.figure import Dots
from coherence.reporting.pictures.markup import Child

ORDER, TITLE = 62, "Stability map"
WORDS = {
    "settles": "settles", "conflict": "settles, with another conflict",
    "oscillates": "swings for ever", "undecided": "not decided in its time",
    "refused": "no design with these values",
}  # fmt: skip


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the map and its counts; what limits it where there is none."""
    mapped = assessment.stability
    if mapped.refused or not mapped.cells:
        return (note(f"No map: {mapped.refused or 'no loops are in feedback'}."),)
    figure = render_sweep.figure(assessment.system, mapped.axes, mapped.cells)
    if len(mapped.axes) == 2:
        x, y = mapped.today
        panel = figure.panels[0]
        figure = replace(figure, panels=(replace(panel, dots=(*panel.dots, Dots("today", ((x, y),), "*", 5))),))
    named = " and ".join(axis.key for axis in mapped.axes)
    caption = f"Exact execution at {len(mapped.cells)} points over {named}: how far today's values are from the edge."
    counts = Counter(cell.verdict for cell in mapped.cells)
    rows = [(WORDS[mark], str(counts[mark]), _periods(assessment, mark)) for mark in MARKS if counts[mark]]
    return (
        pictured(FigurePart(figure, "stability-"), caption),
        table("Points by what the loops do there", ("verdict", "points", "period"), rows, numbers="1"),
        reproduced("sweep", assessment.path, *mapped.options),
    )


def _periods(assessment: Assessment, verdict: str) -> str:
    """Returns the range of the periods, s."""
    periods = [cell.period for cell in assessment.stability.cells if cell.verdict == verdict and cell.period]
    if not periods:
        return ""
    low, high = min(periods), max(periods)
    return f"{low:.4g} s" if low == high else f"{low:.4g} to {high:.4g} s"
