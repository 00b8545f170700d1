"""Renders Markdown for pull requests and job summaries: a table of findings, then each problem in full.

Everything that comes from an input is escaped, in a code span or in a fence: it cannot become
HTML, a link, a mention, an image, a heading or a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coherence.base.outside_text import visible
from coherence.findings.finding import Finding, Report
from coherence.reporting._edits import hunks
from coherence.reporting._not_read import grouped, not_read_sentence
from coherence.reporting._options import ReportOptions
from coherence.reporting._paint import paint
from coherence.reporting._since import since_lines
from coherence.reporting._words import (
    accounting,
    headword,
    one_line,
    ordered,
    primary,
    sentence,
    skipped,
    summary,
    where,
)
from coherence.reporting.text import block, is_brief


def render(report: Report, *, options: ReportOptions) -> str:
    """Returns accounting, table, and a section for each finding that is no proof or note (`verbose`: for each)."""
    findings = ordered(report.findings)
    parts = ["# Coherence report", f"{summary(report)} {accounting(report)}."]
    parts += ["  \n".join(map(escaped, since_lines(report)))]
    parts += ["\n".join(_table(findings))] if findings else []
    for finding in findings:
        if options.verbose or not is_brief(finding):
            parts += _section(finding, report, options)
    parts += ["\n".join(f"- Assumes throughout: {escaped(text)}" for text in report.assumptions)]
    parts += ["\n".join(_not_read(report, options))]
    parts += [f"- Skipped {escaped(skipped(report))}"] * bool(report.skipped)
    return "\n\n".join(part for part in parts if part) + "\n"


def _not_read(report: Report, options: ReportOptions) -> Iterator[str]:
    """Yields an item for each value that was not read (`verbose`), or for each kind of entry and reason."""
    if options.verbose:
        yield from (f"- {code(where(line.place))} {escaped(not_read_sentence(line))}" for line in report.not_read)
    else:
        yield from (f"- Not read: {escaped(text)}" for text in grouped(report.not_read))


def _table(findings: Iterable[Finding]) -> Iterator[str]:
    yield "| | code | place | finding |"
    yield "|---|---|---|---|"
    for finding in findings:
        place = primary(finding)
        at = _cell(code(where(place))) if place else ""
        yield f"| {headword(finding)} | {_cell(code(visible(finding.code)))} | {at} | {escaped(sentence(finding))} |"


def _section(finding: Finding, report: Report, options: ReportOptions) -> Iterator[str]:
    yield f"## {code(visible(finding.code))} {escaped(finding.message)}"
    yield fence((paint(line, colour=False) for line in block(finding, report, options)), "text")
    for repair in finding.repairs:
        changes = hunks(repair.edits, report.sources)
        checked = f" ({escaped(repair.verified)})" if one_line(repair.verified) else ""
        places = ", ".join(code(where(hunk.place)) for hunk in changes)
        yield f"{'Repair' if repair.proved else 'Candidate'} at {places}{checked}:"
        signed = ([*(f"- {x}" for x in h.removed), *(f"+ {x}" for x in h.added)] for h in changes)
        yield fence((visible(line.expandtabs(4)) for lines in signed for line in lines), "diff")


def escaped(text: str) -> str:
    """Returns prose that a Markdown reader shows as it is written."""
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]#|~@$])", r"\\\1", text)
    return re.sub(r":(?=[/\w+-])", r"\\:", text).replace("www.", "www\\.")


def code(text: str) -> str:
    """Returns a code span of one line, with as many backticks around as it needs."""
    runs = max(map(len, re.findall("`+", text)), default=0)
    ticks, pad = "`" * (runs + 1), " " if runs or text != text.strip() or not text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(lines: Iterable[str], language: str) -> str:
    """Returns a fenced block that its content cannot close."""
    body = "\n".join(lines)
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
    return f"{ticks}{language}\n{body}\n{ticks}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
