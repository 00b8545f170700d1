"""Turn manifests into a design, every value with the line that it came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from coherence.cli._progress import Progress


@click.command("import")
@click.argument("kind")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--telemetry", is_flag=True, help="Add the PromQL of what autoscalers read and write, for `fit`.")
def command(kind: str, files: Sequence[Path], *, telemetry: bool) -> int:
    """Print the design that the manifests of KIND in FILES make; KIND `all` takes every known kind."""
    from coherence import importers
    from coherence.door.import_design import chosen_documents

    with Progress("reading"):
        text = importers.design_yaml(chosen_documents(files, kind), telemetry=telemetry)
    click.echo(text, nl=False)
    return 0
