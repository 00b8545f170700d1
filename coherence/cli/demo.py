"""Check every shipped design against its known answer, and show the conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from coherence.cli._progress import Progress
from coherence.cli._width import print_text, terminal_width
from coherence.cli._workers import workers_of

if TYPE_CHECKING:
    from coherence.checking.expectations import Result
    from coherence.findings.finding import Finding


@click.command("demo")
@click.option("--full", is_flag=True, help="Every conflict with its places and its witness.")
def command(*, full: bool) -> int:
    """Check the shipped designs: a line for each with its first conflict, repaired twins beside.

    Exits 0 when every design gives exactly what its expected.yaml says.
    """
    from coherence.checking.expectations import closing, compare, expected_files
    from coherence.language.catalogue import shipped

    specs = shipped("specs")
    files, results = expected_files([specs]), []
    name_width = max((len(file.parent.name) for file in files), default=0)
    with Progress("checking") as bar:
        for result in compare(files, base=specs.parent, workers=workers_of(None, None, len(files))):
            results.append(result)
            with bar.cleared():
                print_text(_in_full(result) if full else _line(result, name_width))
            bar(len(results) / len(files))
    print_text(closing(results))
    if not full:
        print_text("`coherence demo --full` shows each conflict at its lines, with its witness")
    return 0 if all(not result.differences for result in results) else 1


def _line(result: Result, name_width: int) -> str:
    """Returns a design's name and its first conflict, cut to one line, and what differs from what is expected."""
    from textwrap import shorten

    conflict = next(iter(_conflicts(result)), None)
    words = f"{conflict.code} {conflict.message}" if conflict else "no conflict"
    width = (terminal_width() or 120) - name_width - 2
    line = f"{result.path.name:{name_width}}  {shorten(words, width=max(width, 20), placeholder=' ...')}"
    return "\n".join([line, *_differences(result)])


def _in_full(result: Result) -> str:
    """Returns the first two conflicts of a design as `check` prints them, and what differs from what is expected."""
    from dataclasses import replace

    from coherence import reporting

    conflicts = _conflicts(result)
    shown = reporting.render("text", replace(result.report, findings=conflicts[:2])) if conflicts else "no conflict\n"
    return "\n".join([f"== {result.path.name}\n", shown, *_differences(result)])


def _conflicts(result: Result) -> tuple[Finding, ...]:
    from coherence.findings.finding import Verdict

    return tuple(finding for finding in result.report.findings if finding.verdict is Verdict.CONFLICT)


def _differences(result: Result) -> list[str]:
    return [f"     DIFFERS  {difference}" for difference in result.differences]
