"""Renders a report for people: each finding with its source lines, its evidence and its repairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherence.base.outside_text import visible
from coherence.findings.finding import Finding, Repair, Report, Severity
from coherence.reporting._not_read import grouped, not_read_sentence
from coherence.reporting._options import ReportOptions
from coherence.reporting._paint import STYLES, Line, paint
from coherence.reporting._since import since_lines
from coherence.reporting._words import (
    accounting,
    baseline,
    headword,
    is_proof,
    one_line,
    ordered,
    primary,
    skipped,
    summary,
    where,
)


def render(report: Report, *, options: ReportOptions) -> str:
    """Problems in full, then proofs and notes on one line each, then what was counted."""
    lines = [*_findings(report, options)]
    lines += _outside(report, options)
    lines += [_line(finding, "suppressed") for finding in ordered(report.suppressed) if options.verbose]
    lines += [_line(finding, "known") for finding in ordered(report.known) if options.verbose]
    lines += [[]] if lines and lines[-1] else []
    lines += _footer(report, options)
    return "".join(f"{paint(line, colour=options.colour)}\n" for line in lines)


def findings(report: Report, *, options: ReportOptions) -> str:
    """Returns the findings alone, without what was counted."""
    return "".join(f"{paint(line, colour=options.colour)}\n" for line in _findings(report, options))


def headlines(report: Report, *, options: ReportOptions) -> str:
    """Returns each finding on one line, without its source lines, evidence and repairs."""
    lines = (_line(finding, headword(finding)) for finding in ordered(report.findings))
    return "".join(f"{paint(line, colour=options.colour)}\n" for line in lines)


def _findings(report: Report, options: ReportOptions) -> Iterator[Line]:
    every = ordered(report.findings)
    for finding in every:
        if options.verbose or not is_brief(finding):
            yield from (*block(finding, report, options), *repairs(finding, report), [])
    for finding in every if not options.verbose else ():
        if is_brief(finding):
            yield _line(finding, headword(finding))
            yield from _stands_on(finding)


def is_brief(finding: Finding) -> bool:
    """Returns whether the finding is a proof or a note, for which one line is enough."""
    return is_proof(finding) or finding.severity is Severity.INFO


def block(finding: Finding, report: Report, options: ReportOptions) -> Iterator[Line]:
    """Yields one finding without its repairs: headline, source lines, evidence."""
    from coherence.reporting._evidence import notes
    from coherence.reporting._snippet import snippets

    style = headword(finding)
    yield [*_title(finding, headword(finding), style), (f"   ({visible(finding.slug)})", "dim")]
    yield from snippets(finding.places, report.sources, width=options.width, style=style)
    indent = _indent(finding, report)
    for note in notes(finding, width=options.width, verbose=options.verbose):
        label = [(f"{indent}= ", "gutter"), (f"{note.label}: " if any(note.lines) else note.label, "bold")]
        yield [*label, (note.lines[0], "plain")] if len(note.lines) == 1 else label
        yield from ([(f"{indent}    {line}", "plain")] for line in note.lines if len(note.lines) > 1)


def repairs(finding: Finding, report: Report) -> Iterator[Line]:
    """Yields each repair as lines removed and added, then each candidate."""
    proved = [repair for repair in finding.repairs if repair.proved]
    candidates = [repair for repair in finding.repairs if not repair.proved]
    yield from _listed(proved, "help: ", "any one of these removes it", "this removes it", report)
    yield from _listed(candidates, "candidate: ", "each of these may remove it", "this may remove it", report)


def _listed(repairs: Sequence[Repair], label: str, several: str, single: str, report: Report) -> Iterator[Line]:
    from coherence.reporting._edits import hunks

    many = len(repairs) > 1
    if repairs:
        yield [(label, "info"), (several if many else single, "bold")]
    for number, repair in enumerate(repairs, 1):
        checked = f"   ({one_line(repair.verified)})" if repair.verified else ""
        lead = f"  {number}. " if many else "  "
        for hunk in hunks(repair.edits, report.sources):
            yield [(lead, "bold"), (where(hunk.place), "plain"), (checked, "dim")]
            yield from ([(f"     - {visible(line.expandtabs(4))}", "removed")] for line in hunk.removed)
            yield from ([(f"     + {visible(line.expandtabs(4))}", "added")] for line in hunk.added)
            lead, checked = " " * len(lead), ""


def _title(finding: Finding, word: str, style: str) -> Line:
    return [(f"{word}[{visible(finding.code)}]", style), (f": {one_line(finding.message)}", "bold")]


def _line(finding: Finding, word: str) -> Line:
    """Returns one finding on one line."""
    style = word if word in STYLES else "dim"
    place = primary(finding)
    at = f"{where(place)}: " if place else ""
    tail = (f"   ({visible(finding.slug)})", "dim")
    return [
        (at, "plain"),
        (f"{word}[{visible(finding.code)}]", style),
        (f": {one_line(finding.message)}", "plain"),
        tail,
    ]


def _stands_on(finding: Finding) -> Iterator[Line]:
    """Yields what a proof assumes: it is part of what is proved."""
    if is_proof(finding) and finding.assumptions:
        yield [("  = assumes: ", "dim"), ("; ".join(map(one_line, finding.assumptions)), "plain")]


def _indent(finding: Finding, report: Report) -> str:
    """Returns the white space before `=`, so that it stands under the gutter's bar."""
    sizes = [len(str(place.line)) for place in finding.places if place.file in report.sources]
    return " " * (max(sizes, default=1) + 1)


def _outside(report: Report, options: ReportOptions) -> Iterator[Line]:
    """Yields what was read and is outside the model, and what was assumed throughout."""
    for line in report.not_read if options.verbose else ():
        yield [(f"{where(line.place)}: ", "plain"), (one_line(not_read_sentence(line)), "plain")]
    for text in grouped(report.not_read) if not options.verbose else ():
        yield [("not read: ", "dim"), (one_line(text), "plain")]
    if report.skipped and not options.verbose:
        yield [("skipped: ", "dim"), (f"{skipped(report)} (verbose lists them)", "plain")]
    for file in report.skipped if options.verbose else ():
        yield [
            (f"{visible(file.path)}: ", "plain"),
            ("skipped", "dim"),
            (f": {file.kind} ({one_line(file.reason)})", "plain"),
        ]
    for text in report.assumptions:
        yield [("assumes throughout: ", "dim"), (one_line(text), "plain")]


def _footer(report: Report, options: ReportOptions) -> Iterator[Line]:
    yield [(summary(report), "bold")]
    yield from ([(line, "plain")] for line in since_lines(report))
    if report.gone is not None:
        counts = ", ".join(f"{number} {word}" for word, number in baseline(report).items())
        yield [(f"Baseline: {counts}", "plain")]
    took = f", in {options.timing:.2f} s" if options.timing is not None else ""
    yield [(accounting(report) + took, "plain")]
