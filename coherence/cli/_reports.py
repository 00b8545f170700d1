"""Puts out a report of findings in the formats of `coherence.reporting`, by the way of every other output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from coherence.base.errors import InputError
from coherence.cli._output import Output, put_out
from coherence.cli._terminal import is_coloured
from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Report, Severity, Verdict
from coherence.reporting import formats, render

FORMATS = tuple(sorted(formats(), key=lambda form: form != "text"))  # text first: what is printed unless told
INVALID = "COH000"  # the code of a problem of an input, in outputs for machines


def put_out_report(report: Report, outputs: Sequence[Output], *, verbose: bool) -> None:
    """Prints the report in each format, or writes it to a file."""

    def rendered(form: str) -> str:
        options: dict[str, Any] = {}
        if form == "text":
            options = {"verbose": verbose, "colour": is_coloured(sys.stdout)}
        if form == "sarif":
            from coherence.findings.registry import question_pages

            options["rules"] = question_pages()
        return render(form, report, **options)

    put_out(outputs, rendered)


def problem_report(error: InputError) -> Report:
    """Returns a report with a finding for each problem of an input: nothing was checked, so all is undecided."""
    evidence = Evidence(Grade.PROVED, "reading the input")
    findings = tuple(
        Finding(
            INVALID, "invalid-input", Verdict.UNDECIDED, Severity.ERROR,
            "; ".join(filter(None, (problem.message, problem.remedy))), (problem.place,), (), evidence,
        )
        for problem in error.problems
    )  # fmt: skip
    return Report(findings, Accounting(), ())
