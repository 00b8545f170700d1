"""Check every shipped design against its known answer, and show the conflicts."""

from __future__ import annotations

import click

from coherence.cli._progress import Progress
from coherence.cli._workers import workers_of


@click.command("demo")
@click.option("--brief", is_flag=True, help="Only the closing table.")
def command(*, brief: bool) -> int:
    """Check the shipped designs: conflicts with their witnesses, repaired twins proved.

    Exits 0 when every design gives exactly what its expected.yaml says.
    """
    from dataclasses import replace

    from coherence import reporting
    from coherence.checking.expectations import compare, expected_files, summary
    from coherence.findings.finding import Verdict
    from coherence.language.catalogue import shipped

    specs = shipped("specs")
    files, results = expected_files([specs]), []
    with Progress("checking") as bar:
        for result in compare(files, base=specs.parent, workers=workers_of(None, None, len(files))):
            results.append(result)
            conflicts = tuple(f for f in result.report.findings if f.verdict is Verdict.CONFLICT)
            if brief:
                bar(len(results) / len(files), result.path.name)
            elif conflicts:
                click.echo(f"== {result.path.name}\n")
                click.echo(reporting.render("text", replace(result.report, findings=conflicts[:2])))
    click.echo(summary(results), nl=False)
    return 0 if all(not result.differences for result in results) else 1
