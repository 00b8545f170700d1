"""Renders one line for each finding, `path:line:column: severity CODE message`: for editors, hooks and grep."""

from __future__ import annotations

from coherence.base.outside_text import visible
from coherence.findings.finding import Finding, Report
from coherence.reporting._options import ReportOptions
from coherence.reporting._words import ordered, primary, sentence, where

NAME = "concise"
MARK = b" COH"  # stands in every report of this format that is not empty


def render(report: Report, *, options: ReportOptions) -> str:  # noqa: ARG001  (every format takes options)
    """Returns the lines of the findings; one without a place begins with `-`."""
    return "".join(f"{_line(finding)}\n" for finding in ordered(report.findings))


def _line(finding: Finding) -> str:
    place = primary(finding)
    at = where(place) if place else "-"
    return f"{at}: {finding.severity} {visible(finding.code)} {sentence(finding)}"
