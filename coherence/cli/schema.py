"""Print the design language (JSON Schema for editors, or Markdown), or the schema of what a command prints as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from coherence.cli._output import Output, output_option, put_out


@click.command("schema")
@output_option("json", "markdown")
@click.option("--of", metavar="COMMAND", help="The schema of what this command prints as JSON: check, analyze, ...")
def command(output: Sequence[Output], of: str | None) -> int:
    """Print the JSON Schema (draft 2020-12) of a design, the reference of its keys, or the schema of an output."""
    put_out(output, _design_language if of is None else partial(_output_language, of))
    return 0


def _design_language(form: str) -> str:
    if form == "markdown":
        from coherence.language.pages.reference import language_page

        return language_page()
    from coherence.language.pages.schema import design_schema

    return json.dumps(design_schema(), indent=2, sort_keys=True) + "\n"


def _output_language(of: str, form: str) -> str:
    return json.dumps(_output_schema(of, form), indent=2, sort_keys=True) + "\n"


def _output_schema(of: str, form: str) -> dict[str, Any]:
    """Returns the schema of what a command prints.  Raises UsageError."""
    from coherence.base.errors import UsageError, did_you_mean
    from coherence.door.output_schemas import FORMS, output_schema

    if form != "json":
        raise UsageError("--of: the schema of an output is JSON; leave -o out")
    if of not in FORMS:
        raise UsageError(f"--of {of}: known are {', '.join(sorted(FORMS))}; {did_you_mean(of, FORMS)}")
    return output_schema(of)
