"""Renders one line for each finding, `path:line:column: severity CODE message`: for editors, hooks and grep.

What is not read and counts has a line of its own, `path:line:column: not read: ...`; what does not count has one for
each kind of entry, and so has what no question answers about, `-: ...`.
"""

from __future__ import annotations

from coherence.base.outside_text import visible
from coherence.findings.finding import Finding, Report
from coherence.reporting._not_read import listed_only, not_read_sentence
from coherence.reporting._options import ReportOptions
from coherence.reporting._words import one_line, ordered, primary, sentence, unanswered, where


def render(report: Report, *, options: ReportOptions) -> str:  # noqa: ARG001  (every format takes options)
    """Returns the lines of the findings; one without a place begins with `-`."""
    lines = [_line(finding) for finding in ordered(report.findings)]
    lines += [f"{where(x.place)}: {one_line(not_read_sentence(x))}" for x in report.not_read if x.counts]
    lines += [f"-: {one_line(text)}" for text in (*listed_only(report.not_read), unanswered(report)) if text]
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    place = primary(finding)
    at = where(place) if place else "-"
    return f"{at}: {finding.severity} {visible(finding.code)} {sentence(finding)}"
