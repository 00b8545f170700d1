"""Print the JSON Schema of the design language, for editors."""

from __future__ import annotations

import json

import click


@click.command("schema")
def command() -> int:
    """Print the JSON Schema (draft 2020-12) of a design."""
    from coherence.language.schema import design_schema

    click.echo(json.dumps(design_schema(), indent=2, sort_keys=True))
    return 0
