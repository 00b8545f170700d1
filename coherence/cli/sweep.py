"""Sweep one or two numbers of a design: where do its loops settle?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED, STOPPED_CODE
from coherence.cli._designs import one_entry
from coherence.cli._seconds import time_limit_option
from coherence.cli._unread import OPEN, strict_code, strict_option
from coherence.cli._workers import workers_of, workers_options

if TYPE_CHECKING:
    from coherence.exploring.sweeps import Cell
    from coherence.exploring.swept_numbers import Axis
    from coherence.findings.finding import NotRead
    from coherence.loops.designs.disagreements import Disagreement


@click.command("sweep")
@click.argument("path", type=click.Path())
@click.option(
    "--parameter", "-p", "parameters", multiple=True, required=True, metavar="KEY=A:B[:log][:N]",
    help="A number of the design by its dotted path, and the range it takes; once or twice.",
)  # fmt: skip
@click.option("--picture", metavar="FILE", help="Draw the map: FILE.svg, or FILE.png.")
@workers_options("every point", default="all cores with joblib")
@time_limit_option(0.1, 10.0, "Of one point; beyond it the point is undecided.")
@strict_option(OPEN)
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str, parameters: Sequence[str], picture: str | None, jobs: int | None,
    cluster: str | None, into: str | None, time_limit: float, strict: bool, output: str,
) -> int:  # fmt: skip
    """Execute the design at PATH exactly for every combination of values, and map where its loops settle.

    KEY is the dotted path of a number that stands in the design, for example loops.hpa.target.setpoint; A and B are
    in its unit unless they have one.
    """
    if len(parameters) > 2:
        raise UsageError(f"{len(parameters)} keys: a map has one or two")
    from coherence.base.reads import recorded
    from coherence.cli._progress import Progress
    from coherence.cli._unread import left_out, unread
    from coherence.exploring import render_sweep, sweeps, swept_numbers
    from coherence.exploring.sweep_referee import own_disagreements
    from coherence.loops.designs.feedback_groups import Deadline
    from coherence.model.elaborate import elaborate
    from coherence.reporting.pictures import files

    if picture is not None:
        files.check_kind(picture)
    entry = one_entry(path)
    axes = swept_numbers.axes(parameters, entry.sources)
    store = sweeps.Store(Path(into) if into else None, axes, entry.sources)
    workers = workers_of(jobs, cluster, len(sweeps.points(axes)) - len(store.cells))
    with Progress("sweeping") as bar:
        cells = sweeps.swept(axes, entry.sources, entry.rebuild, store, time_limit=time_limit, workers=workers, bar=bar)
    model = elaborate(entry.design)
    with recorded() as reads:
        own = sweeps.verdict_of(model, (), Deadline(time_limit))
    lines, differing = unread("sweep", entry.design, reads), own_disagreements(model, own, time_limit)
    if picture is not None:
        files.write(render_sweep.figure(path, axes, cells), picture)
    shown = _json if output == "json" else _text
    click.echo(shown(path, axes, cells, lines, differing, left_out(entry.design, reads)), nl=False)
    return _code(cells, strict_code(int(bool(differing)), lines, strict=strict, left_open=_left_open(cells)))


def _left_open(cells: Sequence[Cell]) -> bool:
    return any(cell.verdict == "undecided" for cell in cells)


def _code(cells: Sequence[Cell], code: int) -> int:
    """Returns the exit code: that of Ctrl-C where it ended the sweep."""
    return STOPPED_CODE if any(cell.why == STOPPED for cell in cells) else code


def _json(
    path: str, axes: Sequence[Axis], cells: Sequence[Cell], lines: Sequence[NotRead],
    differing: Sequence[Disagreement], assumed: Sequence[str],
) -> str:  # fmt: skip
    from coherence.base.version import VERSION
    from coherence.cli._unread import unread_json
    from coherence.exploring import render_sweep

    head = {"format_version": 1, "tool": "coherence sweep", "version": VERSION}
    more = {
        "disagreements": [asdict(disagreement) for disagreement in differing],
        "assumptions": list(assumed),
        "not_read": unread_json(lines),
    }
    data = {**render_sweep.as_json(path, axes, cells), **more}
    return json.dumps({**head, **data}, indent=2, allow_nan=False) + "\n"


def _text(
    path: str, axes: Sequence[Axis], cells: Sequence[Cell], lines: Sequence[NotRead],
    differing: Sequence[Disagreement], assumed: Sequence[str],
) -> str:  # fmt: skip
    from coherence.cli._unread import left_out_text, unread_text
    from coherence.exploring import render_sweep
    from coherence.loops.analysis.second_opinions import render_disagreements

    unread = "".join(f"{line}\n" for line in (*left_out_text(assumed), *unread_text(lines)))
    return render_disagreements(differing) + render_sweep.text(path, axes, cells) + unread
