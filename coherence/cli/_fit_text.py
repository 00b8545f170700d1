"""Prints a fit as text: one screen, or with `--full` every section and every finding at its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherence.door.fit import FitResult
    from coherence.findings.finding import Report


def fit_text(sources: Mapping[str, str], result: FitResult, *, full: bool) -> str:
    """Returns the text of a fit; on one screen a finding has one line."""
    from coherence.causal.answers.answer import render_answers
    from coherence.causal.answers.one_screen import render_screen
    from coherence.cli._unread import left_out_text, unread_text
    from coherence.findings.finding import Accounting, Report

    answers = render_answers(result.sections) if full else render_screen(result.sections)
    report = Report(result.findings, Accounting(), (), sources)
    about_both = "\n" + _findings(report, full=full) if result.findings else ""
    rest = (*left_out_text(result.data["assumptions"]), *unread_text(result.unread))
    return answers + about_both + "".join(f"{line}\n" for line in rest)


def _findings(report: Report, *, full: bool) -> str:
    from coherence.reporting._options import ReportOptions
    from coherence.reporting.text import findings, headlines

    return findings(report, options=ReportOptions()) if full else headlines(report, options=ReportOptions())
