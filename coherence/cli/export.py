"""Export the linear network of a design, with its open loops, to python-control, MATLAB or JSON"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from coherence.base.errors import UsageError
from coherence.cli._designs import one_entry
from coherence.cli._progress import Progress
from coherence.cli._seconds import time_limit_option

if TYPE_CHECKING:
    from coherence.loops.interchange.exported_network import ExportedNetwork

MARKS = {"mat": b"MATLAB 5.0", "json": b'"network": 1', "python-control": b"written by `coherence export`"}


@click.command("export")
@click.argument("path", type=click.Path())
@click.option("--as", "kind", type=click.Choice(list(MARKS)), required=True, help="A script, a .mat file, or JSON.")
@click.option("--output", "-o", "out", metavar="FILE", help="Write to FILE instead of standard output.")
@click.option("--loop", metavar="NAME", help="The group of this loop, where the design has several.")
@click.option("--point", type=int, default=0, show_default=True, help="Which operating point.")
@click.option("--branch", type=int, default=None, help="Which side of the kinks at that point.")
@time_limit_option(0.5, 30.0, "Of the search for operating points.")
def command(
    *, path: str, kind: str, out: str | None, loop: str | None, point: int, branch: int | None, time_limit: float
) -> int:
    """Export the loops of the design (or network file) at PATH, linear at an operating point.

    JSON is a network file: `coherence analyze --network` reads it again.
    """
    from coherence.base.output_files import write_output
    from coherence.checking.workspace import PIPE
    from coherence.loops.interchange.export import exported
    from coherence.loops.interchange.loop_analysis import analyze

    if kind == "mat" and out is None:
        raise UsageError("a .mat file is not text: name it with -o FILE.mat")
    with Progress("analyzing"):
        source = one_entry(path).design if path == PIPE else path
        network = exported(analyze(source, time_limit=time_limit), loop=loop, point=point, branch=branch)
    content = _content(network, kind)
    if out is not None:
        write_output(out, content, mark=MARKS[kind])
    else:
        click.echo(content.decode(), nl=False)
    return 0


def _content(network: ExportedNetwork, kind: str) -> bytes:
    if kind == "mat":
        return network.to_mat()
    return (network.to_json() if kind == "json" else network.to_script()).encode()
