"""Sweep one or two numbers of a design: where do its loops settle?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from coherence.base.errors import UsageError
from coherence.cli._seconds import Seconds


@click.command("sweep")
@click.argument("path", type=click.Path())
@click.option(
    "--parameter", "-p", "parameters", multiple=True, required=True, metavar="KEY=A:B[:log][:N]",
    help="A number of the design by its dotted path, and the range it takes; once or twice.",
)  # fmt: skip
@click.option("--into", metavar="FILE", help="Keep every point here (JSON lines); a sweep that stopped goes on.")
@click.option("--picture", metavar="FILE", help="Draw the map: FILE.svg, or FILE.png.")
@click.option("--jobs", type=click.IntRange(1), help="Processes (needs joblib).  [default: all cores with joblib]")
@click.option(
    "--time-limit", type=Seconds(0.1), default=10.0, show_default=True, metavar="SECONDS",
    help="Of one point; beyond it the point is undecided.",
)  # fmt: skip
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    *, path: str, parameters: Sequence[str], into: str | None, picture: str | None, jobs: int | None,
    time_limit: float, output: str,
) -> int:  # fmt: skip
    """Execute the design at PATH exactly for every combination of values, and map where its loops settle.

    KEY is the dotted path of a number that stands in the design, for example loops.hpa.target.setpoint; A and B are
    in its unit unless they have one.
    """
    if len(parameters) > 2:
        raise UsageError(f"{len(parameters)} keys: a map has one or two")
    from coherence.base.reads import recorded
    from coherence.checking.workspace import open_workspace
    from coherence.cli._progress import Progress
    from coherence.cli._unread import unread, unread_json, unread_text
    from coherence.exploring import render_sweep, sweeps, swept_numbers
    from coherence.loops.designs.feedback_groups import Deadline
    from coherence.model.elaborate import elaborate
    from coherence.reporting.pictures import files

    if picture is not None:
        files.check_kind(picture)
    entries = open_workspace([path]).entries
    if len(entries) != 1:
        raise UsageError(f"{path} holds {len(entries)} designs: name one file")
    entry = entries[0]
    axes = swept_numbers.axes(parameters, entry.sources)
    sweeps.parallel(jobs, 0)
    store = sweeps.Store(Path(into) if into else None, axes, entry.sources)
    with Progress("sweeping") as bar:
        cells = sweeps.swept(
            axes, entry.sources, entry.rebuild, store, time_limit=time_limit, jobs=jobs, bar=bar
        )  # fmt: skip
    with recorded() as reads:
        sweeps.verdict_of(elaborate(entry.design), (), Deadline(time_limit))
    lines = unread("sweep", entry.design, reads)
    if picture is not None:
        files.write(render_sweep.figure(path, axes, cells), picture)
    if output == "json":
        from coherence.base.version import VERSION

        head = {"format_version": 1, "tool": "coherence sweep", "version": VERSION}
        data = {**render_sweep.as_json(path, axes, cells), "not_read": unread_json(lines)}
        click.echo(json.dumps({**head, **data}, indent=2, allow_nan=False))
    else:
        click.echo(render_sweep.text(path, axes, cells), nl=False)
        for line in unread_text(lines):
            click.echo(line)
    return 0
