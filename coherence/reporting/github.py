"""Renders annotations of GitHub Actions: one workflow command for each finding.

With an earlier state to compare with (`--since`) a finding stands at the line that changed, and what is not read is
told of changed lines alone: a review shows no others, and GitHub ten annotations of each level.

SOURCE: actions/toolkit, packages/core/src/command.ts (what must be escaped in data and in properties).
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.base.outside_text import visible
from coherence.base.places import Place
from coherence.findings.finding import Finding, NotRead, Report, Severity
from coherence.reporting._evidence import notes
from coherence.reporting._not_read import listed_only, not_read_sentence
from coherence.reporting._options import ReportOptions
from coherence.reporting._since import is_touched, touched_place
from coherence.reporting._words import (
    column_of,
    in_file,
    is_proof,
    line_of,
    one_line,
    ordered,
    sentence,
    unanswered,
    weight,
    where,
)

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, *, options: ReportOptions) -> str:
    """Returns `::error file=...,line=...,col=...::message` lines; proofs are notices, undecided ones no errors."""
    commands = [_command(finding, report, options) for finding in ordered(report.findings)]
    unread = [line for line in report.not_read if is_touched(line.place, report)]
    commands += [_not_read(line) for line in unread if line.counts]
    commands += [f"::notice title=not read::{_data(one_line(text))}" for text in listed_only(unread)]
    if open_ := unanswered(report):
        commands += [f"::warning title=not checked::{_data(open_)}"]
    return "".join(f"{command}\n" for command in commands)


def _not_read(line: NotRead) -> str:
    return f"::notice {_listed({'title': 'not read'}, line.place)}::{_data(one_line(not_read_sentence(line)))}"


def _listed(properties: Mapping[str, str], place: Place | None) -> str:
    """Returns the properties of a command, with the place where it names a file."""
    every = dict(properties)
    if place and in_file(place):
        every |= {"file": visible(place.file), "line": str(line_of(place)), "col": str(column_of(place))}
    return ",".join(f"{name}={_property(value)}" for name, value in sorted(every.items()))


def _command(finding: Finding, report: Report, options: ReportOptions) -> str:
    level = "notice" if is_proof(finding) else _LEVELS[weight(finding)]
    place = touched_place(finding, report)
    properties = {"title": f"{visible(finding.code)} {visible(finding.slug)}"}
    return f"::{level} {_listed(properties, place)}::{_data(_body(finding, place, options))}"


def _body(finding: Finding, at: Place | None, options: ReportOptions) -> str:
    lines = [sentence(finding)]
    lines += [f"{where(place)} {one_line(place.label)}".rstrip() for place in finding.places if place is not at]
    for note in notes(finding, width=options.width):
        lines += [f"{note.label}: {note.lines[0]}"] if len(note.lines) == 1 else [f"{note.label}:", *note.lines]
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
