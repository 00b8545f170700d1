"""Puts out a report of findings in the formats of `coherence.reporting`, by the way of every other output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from coherence.base.errors import InputError
from coherence.cli._output import Output, put_out
from coherence.cli._terminal import is_coloured
from coherence.cli._width import terminal_width
from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Report, Severity, Verdict
from coherence.reporting import formats, render

FORMATS = tuple(sorted(formats(), key=lambda form: form != "text"))  # text first: what is printed unless told
INVALID = "COH000"  # the code of a problem of an input, in outputs for machines
PEOPLE = ("text", "concise")  # formats: of an input with problems standard error says all that they would
WIDTH = 100  # of lines that go to a file or a pipe


def put_out_report(report: Report, outputs: Sequence[Output], *, verbose: bool) -> None:
    """Prints the report in each format, or writes it to a file."""

    def rendered(form: str) -> str:
        options: dict[str, Any] = {}
        if form == "text":
            options = {"verbose": verbose, "colour": is_coloured(sys.stdout), "width": terminal_width() or WIDTH}
        if form == "sarif":
            from coherence.findings.registry import question_pages

            options["rules"] = question_pages()
        return render(form, report, **options)

    put_out(outputs, rendered)


def put_out_problems(error: InputError, outputs: Sequence[Output], command: str) -> None:
    """Writes what is wrong with an input to the outputs for machines, in the form of each."""
    del command
    machines = [output for output in outputs if output.form not in PEOPLE]
    put_out_report(problem_report(error), machines, verbose=False)


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
