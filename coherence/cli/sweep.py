"""Sweep one or two numbers of a design: where do its loops settle?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED, STOPPED_CODE
from coherence.cli._designs import one_entry, system_of
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._seconds import time_limit_option
from coherence.cli._unread import OPEN, strict_code, strict_option
from coherence.cli._workers import workers_of, workers_options

if TYPE_CHECKING:
    from coherence.door.sweep import SweepResult
    from coherence.exploring.sweeps import Cell


@click.command("sweep")
@click.argument("path", type=click.Path())
@click.option(
    "--parameter", "-p", "parameters", multiple=True, required=True, metavar="KEY=A:B[:log][:N]",
    help="A number of the design by its dotted path, and the range it takes; once or twice.",
)  # fmt: skip
@click.option("--select", "-s", multiple=True, metavar="COH2", help="Ask only codes that begin with this (repeatable).")
@click.option("--ignore", "-i", multiple=True, metavar="COH2", help="Ask no codes that begin with this (repeatable).")
@click.option(
    "--linear",
    is_flag=True,
    help="Judge up to 4 million points together by the linear verdict at the operating point, from a few readings "
    "of the text: the numbers of a lap as rational functions of the keys, laid beside readings at other points.",
)
@click.option("--picture", metavar="FILE", help="Draw the map: FILE.svg, or FILE.png.")
@workers_options("every point", default="all cores")
@time_limit_option(0.1, 30.0, "Of one point; beyond it the point is undecided.")
@strict_option(OPEN)
@output_option("text", "json")
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str, parameters: Sequence[str], select: Sequence[str], ignore: Sequence[str], linear: bool,
    picture: str | None, jobs: int | None, cluster: str | None, into: str | None, time_limit: float, strict: bool,
    output: Sequence[Output],
) -> int:  # fmt: skip
    """Execute the design at PATH exactly for every combination of values, and map where its loops settle.

    Where all of them settle the questions of check are asked as well: a point at which one says conflict is
    called a conflict. --select COH3 asks those about loops alone, which takes less time.

    KEY is the dotted path of a number that stands in the design, for example loops.hpa.target.setpoint; A and B are
    in its unit unless they have one.
    """
    if len(parameters) > 2:
        raise UsageError(f"{len(parameters)} keys: a map has one or two")
    if linear:
        return _linearised(click.get_current_context().params)
    from coherence.base.watchdog import interruptible
    from coherence.checking.design_check import Options
    from coherence.cli._progress import Progress
    from coherence.door.sweep import kept_points, swept
    from coherence.exploring import render_sweep, sweeps, swept_numbers
    from coherence.findings.registry import require_known_codes
    from coherence.reporting.pictures import files

    if picture is not None:
        files.check_kind(picture)
    require_known_codes((*select, *ignore))
    entry, setting = one_entry(path), sweeps.PointSetting(time_limit, Options(tuple(select), tuple(ignore)))
    axes = swept_numbers.axes(parameters, entry.sources)
    store = kept_points(into, axes, entry, setting.options)
    workers = workers_of(jobs, cluster, len(sweeps.points(axes)) - len(store.cells))
    with Progress("sweeping") as bar, interruptible(bar):
        result = swept(entry, path, axes, setting, workers=workers, store=store)
    if picture is not None:
        files.write(render_sweep.figure(system_of(path, entry), axes, result.cells), picture)
    put_out(output, lambda form: _rendered(form, result))
    code = strict_code(int(bool(result.differing)), result.unread, strict=strict, left_open=_left_open(result.cells))
    return _code(result.cells, code)


def _linearised(given: Mapping[str, Any]) -> int:
    from coherence.cli import _linear_sweep

    return _linear_sweep.answered(given)


def _left_open(cells: Sequence[Cell]) -> bool:
    return any(cell.verdict == "undecided" for cell in cells)


def _code(cells: Sequence[Cell], code: int) -> int:
    """Returns the exit code: that of Ctrl-C where it ended the sweep."""
    return STOPPED_CODE if any(cell.why == STOPPED for cell in cells) else code


def _rendered(form: str, result: SweepResult) -> str:
    return json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n" if form == "json" else _text(result)


def _text(result: SweepResult) -> str:
    from coherence.cli._unread import left_out_text, unread_text
    from coherence.exploring import render_sweep
    from coherence.loops.analysis.second_opinions import render_disagreements

    lines = (*left_out_text(result.data["assumptions"]), *unread_text(result.unread))
    unread = "".join(f"{line}\n" for line in lines)
    return render_disagreements(result.differing) + render_sweep.text(result.name, result.axes, result.cells) + unread
