"""Print the design language: its JSON Schema for editors, or its reference as Markdown."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.option("--format", "form", type=click.Choice(["json", "markdown"]), default="json", show_default=True)
def command(form: str) -> int:
    """Print the JSON Schema (draft 2020-12) of a design, or the reference of its keys."""
    if form == "markdown":
        from coherence.language.pages.reference import language_page

        click.echo(language_page(), nl=False)
        return 0
    from coherence.language.pages.schema import design_schema

    click.echo(json.dumps(design_schema(), indent=2, sort_keys=True))
    return 0
