"""Print the design language (JSON Schema for editors, or Markdown), or the schema of what a command prints as JSON."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command("schema")
@click.option("--format", "form", type=click.Choice(["json", "markdown"]), default="json", show_default=True)
@click.option("--of", metavar="COMMAND", help="The schema of what this command prints as JSON: check, analyze, ...")
def command(form: str, of: str | None) -> int:
    """Print the JSON Schema (draft 2020-12) of a design, the reference of its keys, or the schema of an output."""
    if of is not None:
        click.echo(json.dumps(_output_schema(of, form), indent=2, sort_keys=True))
        return 0
    if form == "markdown":
        from coherence.language.pages.reference import language_page

        click.echo(language_page(), nl=False)
        return 0
    from coherence.language.pages.schema import design_schema

    click.echo(json.dumps(design_schema(), indent=2, sort_keys=True))
    return 0


def _output_schema(of: str, form: str) -> dict[str, Any]:
    """Returns the schema of what a command prints.  Raises UsageError."""
    from coherence.base.errors import UsageError, did_you_mean
    from coherence.door.output_schemas import FORMS, output_schema

    if form != "json":
        raise UsageError("--of: the schema of an output is JSON; leave --format out")
    if of not in FORMS:
        raise UsageError(f"--of {of}: known are {', '.join(sorted(FORMS))}; {did_you_mean(of, FORMS)}")
    return output_schema(of)
