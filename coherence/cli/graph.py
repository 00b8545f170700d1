"""Draw who reads, writes and calls what: Mermaid, Graphviz, GraphML, or SVG with the findings on it"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coherence.cli._given import refuse_given
from coherence.cli._seconds import time_limit_option

if TYPE_CHECKING:
    from coherence.checking.workspace import Workspace

DRAWN = "svg"


@click.command("graph")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["mermaid", "dot", "graphml", DRAWN]), default="mermaid", show_default=True
)
@time_limit_option(0.1, 60.0, "Of the wall, for the findings on an SVG.")
def command(path: Path, form: str, time_limit: float) -> int:
    """Print the graph of the design (or of the manifests) at PATH.

    An SVG has the findings of `check` on it, zones of feedback, and calls that are sent again.
    """
    from coherence.checking.workspace import open_workspace
    from coherence.model.graph import FORMATS, graph

    workspace = open_workspace([path])
    if form == DRAWN:
        return _drawn(str(path), workspace, time_limit)
    refuse_given(("time_limit",), "nothing is asked for this format")
    for entry in workspace.entries:
        click.echo(FORMATS[form](graph(entry.design)), nl=False)
    return 0


def _drawn(path: str, workspace: Workspace, seconds: float) -> int:
    """Prints the map of risk of the one design."""
    from coherence.checking.cache import Cache, folder
    from coherence.checking.workspace import report
    from coherence.cli._designs import system_of
    from coherence.cli._progress import Progress
    from coherence.reporting.pictures.design_map import design_map, map_drawing

    entry = workspace.one_entry(path)
    with Progress("checking"):
        answers = report(
            workspace, time_limit=seconds, today=time.strftime("%Y-%m-%d"), answering=Cache(folder()).answers
        )
    drawn = map_drawing(system_of(path, entry), design_map(entry.design, answers.findings))
    click.echo(drawn.standalone(), nl=False)
    return 0
