"""Renders SARIF 2.1.0, for code scanning and editors.

The primary place is the result's location, the others are related locations; repairs are fixes.
Conflicts and vacuous promises have kind `fail` and the level of their severity; so have undecided
ones, at most as warnings; proofs have kind `pass` and notes kind `informational`, both with level `none`.
The witness and the exact figures stand in the property bag of the result, as in the JSON format.

SOURCE: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0 (sections 3.27 result,
3.29 physicalLocation, 3.30 region, 3.55 fix); columns are code points (3.14.17).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from coherence.base.outside_text import visible
from coherence.base.places import Place
from coherence.findings.finding import Edit, Finding, InputFile, QuestionPage, Repair, Report, Severity, SkippedFile
from coherence.reporting._edits import lines_of
from coherence.reporting._not_read import not_read_sentence
from coherence.reporting._options import ReportOptions
from coherence.reporting._versions import versions
from coherence.reporting._words import (
    column_of,
    in_file,
    is_note,
    is_proof,
    line_of,
    one_line,
    ordered,
    sentence,
    weight,
)
from coherence.reporting.json_ import as_data, dumps

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "coherence/v1"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, *, options: ReportOptions) -> str:
    """Returns a log of one run with its rules, artifacts and results."""
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report, options)]}, depth=4)


def _run(report: Report, options: ReportOptions) -> dict[str, Any]:
    rules = _rules(report, options.rules)
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    data = as_data(report)
    shown = zip(ordered(report.findings), data["findings"], strict=True)
    hidden = zip(ordered(report.suppressed), data["suppressed"], strict=True)
    results = [_result(one, whole, index, report) for one, whole in shown]
    results += [_result(one, whole, index, report) | {"suppressions": [_SILENCED]} for one, whole in hidden]
    known = zip(ordered(report.known), data.get("known", ()), strict=True)
    results += [_result(one, whole, index, report) | {"suppressions": [_KNOWN]} for one, whole in known]
    driver = {"name": "coherence", "version": versions()["coherence"], "rules": rules}
    return {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": _artifacts(report.inputs),
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "results": results,
        "properties": {"counts": data["counts"], "seed": data["seed"], "versions": data["versions"]},
    }


_SILENCED = {"kind": "inSource", "status": "accepted"}
_KNOWN = {"kind": "external", "status": "accepted"}  # it stands in the baseline


def _rules(report: Report, known: Iterable[QuestionPage]) -> list[dict[str, Any]]:
    """Returns every code that a finding has, described where its rule is known; sorted by code."""
    rules: dict[str, dict[str, Any]] = {}
    for finding in ordered((*report.findings, *report.suppressed, *report.known)):
        slug = visible(finding.slug)
        rules.setdefault(finding.code, {"id": finding.code, "name": slug, "shortDescription": _message(slug)})
    for rule in known:
        if rule.code in rules:
            texts = {"text": rule.page or rule.summary, "markdown": rule.page or rule.summary}
            rules[rule.code] |= {"shortDescription": _message(rule.summary), "help": texts}
    return [rules[code] for code in sorted(rules)]


def _result(finding: Finding, whole: dict[str, Any], index: dict[str, int], report: Report) -> dict[str, Any]:
    places = [place for place in finding.places if in_file(place)]
    keep = ("verdict", "certainty", "severity", "evidence", "assumptions", "of")
    kind = "pass" if is_proof(finding) else "informational" if is_note(finding) else "fail"
    result = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "kind": kind,
        "level": _LEVELS[weight(finding)] if kind == "fail" else "none",
        "message": _message(sentence(finding)),
        "locations": [_location(place) for place in places[:1]] or _whole_input(report),
        "relatedLocations": [_location(place) | {"id": number} for number, place in enumerate(places[1:], 1)],
        "fixes": _fixes(finding.repairs),
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "properties": {name: whole[name] for name in keep},
    }
    return {name: value for name, value in result.items() if value != []}


def _message(text: str) -> dict[str, str]:
    """Returns plain text with brackets escaped where they could be read as a link (3.11.6)."""
    text = one_line(text)
    return {"text": re.sub(r"([\\\[\]])", r"\\\1", text) if "](" in text else text}


def _location(place: Place) -> dict[str, Any]:
    physical = {"artifactLocation": _artifact(place.file), "region": _region(place)}
    return {"physicalLocation": physical} | ({"message": _message(place.label)} if place.label.strip() else {})


def _whole_input(report: Report) -> list[dict[str, Any]]:
    """Returns the first input as location of a finding without one: code scanning refuses results without."""
    return [{"physicalLocation": {"artifactLocation": _artifact(input_.path)}} for input_ in report.inputs[:1]]


def _region(place: Place) -> dict[str, int]:
    line, column = line_of(place), column_of(place)
    end_line, end_column = max((line, column), (place.end_line, max(1, place.end_column)))
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _artifact(path: str) -> dict[str, str]:
    """Returns a URI reference: relative paths count from the root of the sources."""
    from urllib.parse import quote

    plain = path.replace("\\", "/") if re.match(r"[A-Za-z]:[\\/]", path) else path
    uri = quote(plain.encode("utf-8", "surrogatepass" if not _from_bytes(path) else "surrogateescape"))
    if plain.startswith("/"):
        return {"uri": f"file://{uri}"}
    if plain != path or re.match(r"[A-Za-z]:/", plain):
        return {"uri": f"file:///{uri.replace('%3A', ':', 1)}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _from_bytes(path: str) -> bool:
    """Returns whether all lone surrogates of the path are undecodable bytes of a file name."""
    return all("\udc80" <= character <= "\udcff" for character in path if "\ud800" <= character <= "\udfff")


def _artifacts(inputs: Iterable[InputFile]) -> list[dict[str, Any]]:
    unique = dict.fromkeys((input_.path, input_.sha256) for input_ in inputs)
    return [{"location": _artifact(path), "hashes": {"sha-256": sha256}} for path, sha256 in unique]


def _notifications(report: Report) -> list[dict[str, Any]]:
    """Returns what was read and is outside the model, and what was not read."""
    outside = [
        *((line.place, not_read_sentence(line)) for line in report.not_read),
        *((_start(file), f"skipped: {file.kind} ({file.reason})") for file in report.skipped),
    ]
    return [
        {"level": "note", "message": _message(text)} | ({"locations": [_location(place)]} if in_file(place) else {})
        for place, text in outside
    ]


def _start(file: SkippedFile) -> Place:
    return Place(file.path, 1, 1, 1, 1)


def _fixes(repairs: Iterable[Repair]) -> list[dict[str, Any]]:
    """Returns what a program may write: repairs, and no candidates."""
    fixes: list[dict[str, Any]] = []
    for repair in repairs:
        if repair.proved and repair.edits and all(in_file(edit.place) for edit in repair.edits):
            fix: dict[str, Any] = {"artifactChanges": _changes(repair.edits)}
            fix |= {"description": _message(repair.verified)} if repair.verified.strip() else {}
            fixes += [fix] if fix not in fixes else []
    return fixes


def _changes(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in edits:
        replacement = {"deletedRegion": _replaced(edit), "insertedContent": {"text": edit.new}}
        changes.setdefault(edit.place.file, []).append(replacement)
    return [{"artifactLocation": _artifact(file), "replacements": listed} for file, listed in sorted(changes.items())]


def _replaced(edit: Edit) -> dict[str, int]:
    """Returns the region that `old` takes from the start of its place."""
    line, column = line_of(edit.place), column_of(edit.place)
    *above, last = lines_of(edit.old)
    end_column = len(last) + (1 if above else column)
    return {"startLine": line, "startColumn": column, "endLine": line + len(above), "endColumn": end_column}
