"""Tells how the loops respond: settled or not by exact execution, and how far each is from losing stability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import FigurePart, note, pictured, reproduced, table
from coherence.base.number_text import render_seconds
from coherence.loops.analysis.design_analysis import GroupAnalysis
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.analysis.render_margins import render_delay, render_phase
from coherence.reporting.pictures.markup import Child

ORDER, TITLE = 60, "Responses and margins"
MARGINS = ("loop", "stable gains (× today's)", "phase margin", "command may land later by", "reading may be later by",
           "peak of sensitivity, Ms")  # fmt: skip


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the verdict of each group, margins of its loops, runs and sensitivities."""
    loops = assessment.loops
    if loops.refused:
        return (note(f"The loops could not be analysed: {loops.refused}"),)
    if loops.analysis is None or not loops.analysis.groups:
        alone = loops.analysis.alone if loops.analysis else ()
        shown = [table("Loops in no feedback", ("loop", "reason"), alone)] if alone else []
        return (note("No loops feed back on each other or on themselves."), *shown)
    groups = table("Groups of loops in feedback", ("loops", "exact execution", "period", "how"),
                   [_group(group) for group in loops.analysis.groups], numbers="2")  # fmt: skip
    rows = [row for group in loops.analysis.groups for row in _margins(group)]
    margins = table("Margins at the first operating point (linearised)", MARGINS, rows) if rows else note(
        "No margin: no group has an operating point that could be linearised."
    )  # fmt: skip
    drawn: list[Child] = [note(_of_laws(dropped))] if rows and (dropped := _dropped(loops.analysis.groups)) else []
    if loops.figure is not None and loops.figure.panels:
        caption = "Exact runs of each group, and how strongly it passes a disturbance on by its period."
        drawn += [pictured(FigurePart(loops.figure, "loops-"), caption, wide=True)]
    return (groups, margins, *drawn, reproduced("analyze", assessment.path))


def _dropped(groups: Sequence[GroupAnalysis]) -> tuple[str, ...]:
    """Returns what the margins leave out of laws: `tolerance`, `hold windows`."""
    names = (name.rpartition(" of ")[0] for group in groups for point in group.points[:1] for name in point.dropped)
    return tuple(dict.fromkeys(names))


def _of_laws(dropped: Sequence[str]) -> str:
    """Returns how margins and exact runs differ in what they are about."""
    return (
        f"Margins are of the laws without their {', '.join(dropped)}: a loop may rest within these and yet swing where "
        "something moves it out of them. Exact execution has them all, and is about the starts that it names."
    )


def _group(group: GroupAnalysis) -> tuple[str, str, str, str]:
    period = group.answer.period
    return (
        ", ".join(group.group.names), str(group.verdict), "" if period is None else render_seconds(period),
        group.answer.how,
    )  # fmt: skip


def _margins(group: GroupAnalysis) -> Iterator[tuple[str, ...]]:
    for point in group.points[:1]:
        yield from (_row(loop) for loop in point.loops)


def _row(loop: LoopFigures) -> tuple[str, ...]:
    if loop.gain_low is None or loop.gain_high is None:
        return loop.loop, loop.note or "no stable factor found", "", "", "", ""
    high = "any" if loop.gain_high == float("inf") else f"{loop.gain_high:.4g}"
    phase = render_phase(loop.margins.phase) if loop.margins else "not known"
    delays = [render_delay(delay) if delay else loop.note or "not known" for delay in (loop.landing, loop.reading)]
    peak = f"{loop.response.peak:.3g}" if loop.response else ""
    doubt = "" if loop.certified else " (estimate)"
    return loop.loop, f"{loop.gain_low:.4g} to {high}{doubt}", phase, *delays, peak
