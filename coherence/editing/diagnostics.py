"""Checks a text as it stands in an editor: its problems and findings, each with the repairs that remove it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.errors import CoherenceError, InputError
from coherence.base.places import Place
from coherence.findings.finding import Finding, NotRead, Repair, Severity, Verdict
from coherence.language import document
from coherence.language.reading import is_overlay

HINT = "hint"  # beside the words of Severity: of values that no answer was computed from
_DESIGN = re.compile(r"""^[\s{]*["']?coherence["']?\s*:""", re.MULTILINE)
_MANIFEST = re.compile(r"""^["']?(apiVersion|static_resources|kind)["']?\s*:""", re.MULTILINE)  # Kubernetes, Envoy
_TEMPLATE = "{{"  # of a chart: rendered first
_OVERLAY = "laid over manifests, and checked with them: `coherence check FOLDER`"


@dataclass(frozen=True)
class Diagnostic:
    """A problem, a finding, or a value that is not read, at a place; with other places that belong to it."""

    place: Place
    severity: str
    code: str
    message: str
    others: tuple[Place, ...] = ()
    repairs: tuple[Repair, ...] = ()


def diagnostics(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Returns what `coherence check` says of a design or of manifests; nothing of a text that is neither."""
    from coherence.checking.reports import report
    from coherence.checking.workspace import open_text

    if not _DESIGN.search(text) and not _is_manifest(text, file):
        return ()
    try:
        if any(is_overlay(part.root) for part in document.read_text(text, file)):
            return (whole_text(file, _OVERLAY, str(Severity.INFO)),)
        answers = report(open_text(text, file))
    except InputError as error:
        return tuple(Diagnostic(p.place, "error", "", f"{p.message}\n{p.remedy}".strip()) for p in error.problems)
    except CoherenceError as error:
        return (whole_text(file, str(error)),)
    not_read = (_of_not_read(line) for line in answers.not_read if line.counts and line.place.file == file)
    return (*(_of_finding(finding, file) for finding in answers.findings if _matters(finding)), *not_read)


def _is_manifest(text: str, file: str) -> bool:
    """Returns whether an importer knows an object of the text; a text that is no YAML yet is none."""
    if not _MANIFEST.search(text) or _TEMPLATE in text:
        return False
    from coherence import importers

    try:
        return any(importers.recognises(part) for part in importers.documents_of(text, file))
    except InputError:
        return False


def whole_text(file: str, message: str, severity: str = "error") -> Diagnostic:
    """Returns what is said of a text as a whole, at its first character."""
    return Diagnostic(Place(file, 1, 1, 1, 2), severity, "", message)


def _matters(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO or finding.verdict not in (Verdict.PROVED, Verdict.NOTE)


def _of_finding(finding: Finding, file: str) -> Diagnostic:
    first, *others = [place for place in finding.places if place.file == file] or [Place(file, 1, 1, 1, 2)]
    message = f"{finding.message} ({', '.join(filter(None, (finding.slug, finding.verdict, finding.certainty)))})"
    repairs = tuple(r for r in finding.repairs if all(edit.place.file == file for edit in r.edits))
    return Diagnostic(first, str(finding.severity), finding.code, message, tuple(others), repairs)


def _of_not_read(line: NotRead) -> Diagnostic:
    return Diagnostic(line.place, HINT, "", f"no answer was computed from {line.path}: {line.reason}")


def titles(diagnostic: Diagnostic) -> Iterator[tuple[str, Repair]]:
    """Yields the repairs of a diagnostic, each with what it changes and gives up, in words."""
    for repair in diagnostic.repairs:
        changes = ", ".join(f"{edit.old.strip()} -> {edit.new.strip()}" for edit in repair.edits)
        grade = "proved" if repair.proved else "candidate"
        given = f"; concedes: {', '.join(repair.concedes)}" if repair.concedes else ""
        yield f"{diagnostic.code}: {changes} ({grade}{given})", repair
