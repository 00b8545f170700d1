"""Draws the conflicts of a report, each with its timeline."""

from __future__ import annotations

from coherence.findings.finding import Finding, Report, Severity, Verdict
from coherence.reporting._words import ordered, plural
from coherence.reporting.pictures.drawing import Drawing, stacked, words_at
from coherence.reporting.pictures.timeline import timeline

MOST = 12


def conflicts_drawing(report: Report, system: str) -> Drawing:
    """Returns the timelines of the conflicts below each other, errors first; what is left out is said."""
    conflicts = [finding for finding in ordered(report.findings) if finding.verdict is Verdict.CONFLICT]
    conflicts.sort(key=lambda finding: list(Severity).index(finding.severity))
    drawn = [(finding, timeline(finding, title=finding.code)) for finding in conflicts]
    parts = [(f"{finding.code}: {finding.message}", picture) for finding, picture in drawn if picture is not None]
    title = f"{plural(len(conflicts), 'conflict')} of {system}" if conflicts else f"No conflict of {system}"
    left = [f"{len(parts) - MOST} more conflicts are not drawn"] if len(parts) > MOST else []
    left += [f"{len(conflicts) - len(parts)} without a run: {_codes(conflicts)}"] if len(conflicts) > len(parts) else []
    notes = [(text, Drawing(text, text, 400, 4, ())) for text in left]
    if not parts and not notes:
        return Drawing(title, title, 480, 40, (words_at(14, 20, "Nothing to draw: no conflict was found.", "muted"),))
    return stacked(title, [*parts[:MOST], *notes])


def _codes(conflicts: list[Finding]) -> str:
    """Returns the codes of the conflicts that no run shows."""
    return ", ".join(dict.fromkeys(finding.code for finding in conflicts if not finding.evidence.witness))
