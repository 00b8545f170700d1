"""Checks a design from Python: every question about it, as one result."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from coherence.base.watchdog import PER_DESIGN, WHOLE, run_limit
from coherence.door.result import VerbResult, counted, listed
from coherence.door.sources import Source, workspace_of
from coherence.findings.finding import Finding, NotRead, Report, Verdict


@dataclass(frozen=True, repr=False)
class CheckResult(VerbResult):
    """The findings about a design; iterating gives them one by one.

    `to_frame()` has a row for each finding.  `report` is the whole report with the texts that it is about.
    """

    report: Report = field(compare=False)
    columns: ClassVar[tuple[str, ...]] = (
        "code", "slug", "verdict", "certainty", "severity", "grade", "of", "file", "line", "message",
    )  # fmt: skip

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns all findings, in the order of the report."""
        return self.report.findings

    @property
    def conflicts(self) -> tuple[Finding, ...]:
        """Returns the findings of runs that break a promise, certain or possible."""
        return self._of(Verdict.CONFLICT)

    @property
    def proved(self) -> tuple[Finding, ...]:
        """Returns the findings that no run breaks the promise, each with its certificate."""
        return self._of(Verdict.PROVED)

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """Returns the questions without an answer, each with the reason."""
        return self._of(Verdict.UNDECIDED)

    @property
    def not_read(self) -> tuple[NotRead, ...]:
        """Returns the values that no answer was computed from."""
        return self.report.not_read

    def _repr_html_(self) -> str:
        """Returns the answer for a notebook: its three lines, its table, and the timelines of its conflicts."""
        from base64 import b64encode

        from coherence.reporting.pictures.conflicts import conflicts_drawing

        table = super()._repr_html_()
        if not self.conflicts:
            return table
        drawing = conflicts_drawing(self.report, "the design").standalone()
        return f'{table}<img alt="timelines" src="data:image/svg+xml;base64,{b64encode(drawing.encode()).decode()}">'

    def _of(self, verdict: Verdict) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict is verdict)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for finding in self.findings:
            place = finding.places[0] if finding.places else None
            yield {
                "code": finding.code, "slug": finding.slug, "verdict": str(finding.verdict),
                "certainty": finding.certainty, "severity": str(finding.severity),
                "grade": str(finding.evidence.grade), "of": ", ".join(finding.of),
                "file": place.file if place else "", "line": place.line if place else None,
                "message": finding.message,
            }  # fmt: skip

    def _lines(self) -> Sequence[str]:
        counts = self.report.accounting
        answers = (counted(len(self.conflicts), "conflict"), f"{len(self.proved)} proved")
        return (
            f"CheckResult: {', '.join(answers)}, {len(self.undecided)} undecided, {len(self.not_read)} not read",
            f"  policies: {counts.policies}; pairs: {counts.pairs}, {counts.safe} safe, {counts.conflict} in conflict",
            f"  in conflict: {listed(sorted({finding.code for finding in self.conflicts}), 'none')}",
        )


def check(
    design: Source,
    *,
    select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    time_limit: float | None = None,
) -> CheckResult:
    """Returns the findings about a design: every pair of policies proved, refuted or undecided.

    design: a Design, a path (also of manifests, or a folder), a text, or a mapping.
    select, ignore: beginnings of codes, such as "COH2" or ["COH203", "COH3"].
    time_limit: seconds of the processor for the whole run, shared out among the designs of a folder; a question has a
    third of it at most (default: 60 s for each design).
    Raises InputError with every problem of the design, and UsageError for a code that there is not.

    A finding has a verdict (conflict with a witness, proved with a certificate, undecided with the reason), a grade
    of evidence, places in the text, and repairs.  `coherence explain CODE` prints the page of a code.
    """
    from coherence import reporting
    from coherence.checking.reports import report

    chosen, left = codes(select), codes(ignore)
    of_question = (time_limit or PER_DESIGN) / WHOLE
    with run_limit(time_limit or math.inf):
        answers = report(workspace_of(design), select=chosen, ignore=left, time_limit=of_question)
    return CheckResult(json.loads(reporting.render("json", answers)), answers)


def codes(chosen: str | Sequence[str]) -> tuple[str, ...]:
    """Returns the beginnings of codes.  Raises UsageError where one begins no code."""
    from coherence.findings.registry import require_known_codes

    several = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    if several:
        require_known_codes(several)
    return several
