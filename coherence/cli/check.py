"""Check designs and manifests: every pair of policies proved, refuted or undecided."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from coherence.errors import UsageError
from coherence.finding import Grade, Report, Severity, Verdict

SEVERITIES = {"info": 0, "warning": 1, "error": 2}


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--select", "-s", multiple=True, metavar="COH2", help="Only codes that begin with this (repeatable).")
@click.option("--ignore", "-i", multiple=True, metavar="COH2", help="No codes that begin with this (repeatable).")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    default="error",
    show_default=True,
    help="Exit 1 at this severity of problem and above.",
)
@click.option(
    "--min-evidence",
    type=click.Choice([g.value for g in Grade]),
    default="estimated",
    show_default=True,
    help="Leave out findings with weaker evidence.",
)
@click.option(
    "--output",
    "-o",
    multiple=True,
    metavar="FORMAT[=FILE]",
    help="text, concise, json, sarif, junit, markdown or github; repeatable.",
)
@click.option("--strict", is_flag=True, help="Exit 4 where something is undecided (and nothing fails).")
@click.option(
    "--expect",
    is_flag=True,
    help="Compare each design with the expected.yaml beside it instead of failing on findings.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0.1),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="For one question; beyond it the answer is undecided.",
)
@click.option("--verbose", "-v", is_flag=True, help="Print proofs in full.")
@click.pass_context
def command(  # noqa: PLR0913  (one parameter per option)
    ctx: click.Context, paths: Sequence[str], select: Sequence[str], ignore: Sequence[str], fail_on: str,
    min_evidence: str, output: Sequence[str], *, strict: bool, expect: bool, time_limit: float, verbose: bool,
) -> int:  # fmt: skip
    """Check designs (YAML that begins with `coherence: 1`) and manifests; PATHS are files or folders.

    Manifests given in one command are taken as applied together: they form one design.
    """
    del ctx
    _known(select, ignore)
    if expect:
        from pathlib import Path

        from coherence.expectations import compare, summary

        results = compare([Path(path) for path in paths], time_limit=time_limit)
        click.echo(summary(results), nl=False)
        return 0 if all(not result.differences for result in results) else 1
    from coherence.workspace import open_workspace, report

    made = report(
        open_workspace(paths),
        select=select,
        ignore=ignore,
        time_limit=time_limit,
        today=time.strftime("%Y-%m-%d"),
    )
    made = stronger(made, min_evidence)
    write(made, output or ("text",), verbose=verbose)
    return exit_code(made, fail_on, strict=strict)


def _known(select: Sequence[str], ignore: Sequence[str]) -> None:
    for prefix in (*select, *ignore):
        if not prefix.startswith("COH"):
            raise UsageError(f"'{prefix}' is not the beginning of a code; write for example COH2 or COH203")


def stronger(made: Report, least: str) -> Report:
    """The report without findings whose evidence is weaker than `least`."""
    from dataclasses import replace

    grades = [g.value for g in Grade]
    kept = tuple(f for f in made.findings if grades.index(f.evidence.grade) <= grades.index(least))
    return replace(made, findings=kept)


def write(made: Report, outputs: Sequence[str], *, verbose: bool) -> None:
    """Each output to its file, or to standard output."""
    from coherence import reporting

    targets = [(name, file) for name, _, file in (output.partition("=") for output in outputs)]
    for name, file in targets:
        colour = name == "text" and not file and sys.stdout.isatty()
        options = {"verbose": verbose, "colour": colour} if name == "text" else {}
        text = reporting.render(name, made, **options)
        if file:
            try:
                with open(file, "w", encoding="utf-8") as target:
                    target.write(text)
            except OSError as error:
                raise UsageError(f"cannot write {file}: {error.strerror}") from None
        else:
            click.echo(text, nl=False)


def exit_code(made: Report, fail_on: str, *, strict: bool) -> int:
    """1 for a problem at or above `fail_on`; 4 for an undecided one with `strict`; else 0."""
    problems = [f for f in made.findings if f.verdict is not Verdict.PROVED or f.severity is not Severity.INFO]
    if fail_on != "never" and any(SEVERITIES[f.severity] >= SEVERITIES[fail_on] for f in problems):
        return 1
    return 4 if strict and any(f.verdict is Verdict.UNDECIDED for f in made.findings) else 0
