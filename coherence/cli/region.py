"""Show for which values of one to three numbers of a design nothing is in conflict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._designs import one_entry, system_of
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._progress import Progress
from coherence.cli._seconds import time_limit_option
from coherence.cli._unread import OPEN, strict_code, strict_option
from coherence.cli._workers import workers_of, workers_options

if TYPE_CHECKING:
    from coherence.door.region import RegionResult
    from coherence.exploring.regions import Region
    from coherence.exploring.render_half_spaces import Beside


@click.command("region")
@click.argument("path", type=click.Path())
@click.option(
    "--parameter", "-p", "parameters", multiple=True, required=True, metavar="KEY=A:B",
    help="A number of the design by its dotted path, and the range it may take; up to three.",
)  # fmt: skip
@click.option("--select", "-s", multiple=True, metavar="COH2", help="Only codes that begin with this (repeatable).")
@click.option("--ignore", "-i", multiple=True, metavar="COH2", help="No codes that begin with this (repeatable).")
@click.option("--asks", type=click.IntRange(1, 100_000), default=400, show_default=True, help="Boxes asked at most.")
@workers_options("what is answered of each box")
@time_limit_option(0.1, 20.0, "For one question about one box; beyond it the box is undecided.")
@click.option(
    "--half-spaces/--no-half-spaces", "half_spaces", default=True, show_default=True,
    help="Also seek linear inequalities that are safe.",
)  # fmt: skip
@click.option(
    "--edge",
    is_flag=True,
    help="Of one key: up to which value the design holds, proved there and in conflict at the next one, by halving.",
)
@click.option("--picture", metavar="FILE", help="Draw the boxes and inequalities: FILE.svg, or FILE.png.")
@strict_option(OPEN)
@output_option("text", "json")
def command(  # noqa: PLR0913  (one parameter for each option)
    *, path: str, parameters: Sequence[str], select: Sequence[str], ignore: Sequence[str], asks: int,
    jobs: int | None, cluster: str | None, into: str | None, time_limit: float, half_spaces: bool,
    edge: bool, picture: str | None, strict: bool, output: Sequence[Output],
) -> int:  # fmt: skip
    """Cut the values into boxes that are safe (proved for every value inside), unsafe, or undecided;
    a candidate is a box in which no conflict is found and nothing proves that there is none.

    KEY is the dotted path of a number that stands in the design, for example calls.0.tries; A and B are in its unit
    unless they have one.

    Beside the boxes stand inequalities such as deadline >= 3 * per_try + 2 * pause: within the ranges, every value
    that satisfies one is safe, border and all. They come from following how the questions compute their answers,
    step by step, and are proved by z3 to be filled by values that are answered alike; "a conflict just beyond" says
    that they cannot be wider there. Values that count (tries, replicas) are fixed, one after the other. A question
    that looks at more than sums of the values (a product of two, an execution) gets none; the reason is told. JSON
    has the coefficients (SI units), and the SMT-LIB script of each proof.
    """
    from coherence.base.watchdog import interruptible
    from coherence.door.region import RegionOptions, mapped
    from coherence.findings.registry import require_known_codes

    require_known_codes((*select, *ignore))
    if edge:
        from coherence.cli import _size_edge

        return _size_edge.answered(click.get_current_context().params)
    _check_kind(picture)
    entry = one_entry(path)
    file, workers = Path(into) if into else None, workers_of(jobs, cluster)
    options = RegionOptions(tuple(select), tuple(ignore), asks, time_limit, half_spaces, workers, file)
    with Progress("asking boxes") as bar, interruptible(bar):
        result = mapped(entry, path, parameters, options)
    cells = result.region
    _draw(system_of(path, entry), result, picture)
    put_out(output, lambda form: _rendered(form, path, result))
    return STOPPED_CODE if cells.stopped else strict_code(0, result.unread, strict=strict, left_open=_left_open(cells))


def _check_kind(picture: str | None) -> None:
    """Refuses a picture of an unknown kind before anything is computed."""
    if picture is not None:
        from coherence.reporting.pictures import files

        files.check_kind(picture)


def _draw(system: str, result: RegionResult, file: str | None) -> None:
    if file is not None:
        from coherence.exploring.region_figure import region_figure
        from coherence.reporting.pictures import files

        files.write(region_figure(system, result.region, result.half_spaces), file)


def _left_open(region: Region) -> bool:
    """Decides whether something is undecided, in a cell or whatever the values."""
    return bool(region.left_open) or any(cell.status == "undecided" for cell in region.cells)


def _rendered(form: str, path: str, result: RegionResult) -> str:
    from coherence.cli._unread import left_out_text, unread_text

    if form == "json":
        return json.dumps(result.data, indent=2) + "\n"
    more = (*left_out_text(result.data["assumptions"]), *unread_text(result.unread))
    return "\n".join((text(path, result.region, result.half_spaces), *more)) + "\n"


def text(path: str, region: Region, inequalities: tuple[Beside, ...] = ()) -> str:
    """Returns the region as a table: one line a box, then shares and inequalities."""
    from coherence.door.region import box_ends
    from coherence.exploring.regions import STATUSES

    rows = [("", *(axis.key for axis in region.axes), "")]
    for cell in region.cells:
        ends = [low if low == high else f"{low} .. {high}" for low, high in box_ends(cell, region)]
        rows.append((cell.status, *ends, "; ".join(cell.why)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{one:<{width}}" for one, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    shares = ", ".join(f"{status} {float(region.share(status)):.1%}" for status in STATUSES)
    lines += ["", f"{path}: {shares}; {region.asks} boxes and corners asked"]
    lines += [f"in conflict whatever the values: {one}" for one in region.untouched]
    lines += [f"undecided whatever the values: {one}" for one in region.left_open]
    from coherence.exploring.render_half_spaces import in_text

    return "\n".join([*lines, *in_text(inequalities)])
