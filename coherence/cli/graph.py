"""Draw who reads, writes and calls what: Mermaid, Graphviz or GraphML"""

from __future__ import annotations

from pathlib import Path

import click


@click.command("graph")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["mermaid", "dot", "graphml"]), default="mermaid", show_default=True
)
def command(path: Path, form: str) -> int:
    """Print the graph of the design (or of the manifests) at PATH."""
    from coherence.checking.workspace import open_workspace
    from coherence.model.graph import FORMATS, graph

    for entry in open_workspace([path]).entries:
        click.echo(FORMATS[form](graph(entry.design)), nl=False)
    return 0
