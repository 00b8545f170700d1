"""Defines the options of a report; every format takes all and ignores those of what it does not show."""

from __future__ import annotations

from dataclasses import dataclass, fields

from coherence.base.errors import UsageError, did_you_mean
from coherence.findings.finding import QuestionPage


@dataclass(frozen=True)
class ReportOptions:
    """How to write a report.

    `colour` adds ANSI codes (text).  `verbose` shows proofs, notes and whole witnesses in full (text,
    markdown).  `width` is the line width in columns that text aims at.  `timing` is the duration of
    the run in seconds, shown by text alone.  `rules` are the known codes, described in SARIF.
    `problems_only` leaves out proofs and suppressed findings, in every format alike: GitHub code
    scanning shows SARIF results of kind `pass` and suppressed ones as open alerts.
    """

    colour: bool = False
    verbose: bool = False
    width: int = 100
    timing: float | None = None
    rules: tuple[QuestionPage, ...] = ()
    problems_only: bool = False


def options_from(values: dict[str, object]) -> ReportOptions:
    """Options by name.  Raises UsageError for a name that no option has."""
    known = [field.name for field in fields(ReportOptions)]
    for name in values:
        if name not in known:
            raise UsageError(f"no report option '{name}'; {did_you_mean(name, known)}")
    return ReportOptions(**values)  # type: ignore[arg-type]
