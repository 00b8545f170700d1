"""Draw who reads, writes and calls what: Mermaid, Graphviz, GraphML, or SVG with the findings on it"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coherence.base.watchdog import STOPPED_CODE, interruptible
from coherence.cli._given import refuse_given
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._progress import Progress
from coherence.cli._seconds import time_limit_option

if TYPE_CHECKING:
    from coherence.checking.workspace import Workspace

DRAWN = "svg"


@click.command("graph")
@click.argument("path", type=click.Path(path_type=Path))
@output_option("mermaid", "dot", "graphml", DRAWN)
@time_limit_option(0.1, 60.0, "Of the processor, for the findings on an SVG.")
def command(path: Path, output: Sequence[Output], time_limit: float) -> int:
    """Print the graph of the design (or of the manifests) at PATH.

    An SVG has the findings of `check` on it, zones of feedback, and calls that are sent again.
    """
    from coherence.checking.workspace import open_workspace
    from coherence.model.graph import FORMATS, graph

    workspace = open_workspace([path])
    if all(one.form != DRAWN for one in output):
        refuse_given(("time_limit",), "nothing is asked for this format")

    def rendered(form: str) -> str:
        if form == DRAWN:
            return _drawn(str(path), workspace, time_limit)
        if form == "graphml" and any(entry.design.environment for entry in workspace.entries):
            workspace.one_entry(str(path))  # a file of GraphML has one root
        return "".join(FORMATS[form](graph(entry.design)) for entry in workspace.entries)

    with Progress("checking") as bar, interruptible(bar) as run:
        drawn = {one.form: rendered(one.form) for one in output}
    put_out(output, drawn.__getitem__)
    return STOPPED_CODE if run.stopped else 0


def _drawn(path: str, workspace: Workspace, seconds: float) -> str:
    """Returns the map of risk of the one design."""
    from coherence.checking.cache import Cache, folder
    from coherence.checking.reports import report
    from coherence.cli._designs import system_of
    from coherence.reporting.pictures.design_map import design_map, map_drawing

    entry = workspace.one_entry(path)
    answers = report(workspace, time_limit=seconds, today=time.strftime("%Y-%m-%d"), answering=Cache(folder()).answers)
    drawn = map_drawing(system_of(path, entry), design_map(entry.design, answers.findings))
    return drawn.standalone()
