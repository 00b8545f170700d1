"""Show for which values of one to three numbers of a design nothing is in conflict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._designs import one_entry
from coherence.cli._progress import Progress
from coherence.cli._seconds import time_limit_option
from coherence.cli._unread import (
    OPEN,
    left_out,
    left_out_text,
    strict_code,
    strict_option,
    unread,
    unread_json,
    unread_text,
)
from coherence.cli._workers import workers_of, workers_options

if TYPE_CHECKING:
    from coherence.checking.workspace import Entry
    from coherence.exploring.regions import Region, RegionCell
    from coherence.exploring.render_half_spaces import Beside
    from coherence.findings.finding import NotRead


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
@strict_option(OPEN)
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(  # noqa: PLR0913  (one parameter for each option)
    *, path: str, parameters: Sequence[str], select: Sequence[str], ignore: Sequence[str], asks: int,
    jobs: int | None, cluster: str | None, into: str | None, time_limit: float, half_spaces: bool, strict: bool,
    output: str,
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
    from coherence.base.reads import recorded
    from coherence.checking.design_check import passes
    from coherence.exploring.regions import region
    from coherence.exploring.render_half_spaces import beside
    from coherence.findings.registry import question_modules, require_known_codes

    require_known_codes((*select, *ignore))
    entry = _entry(path)
    chosen = [module for module in question_modules() if any(passes(q.code, select, ignore) for q in module.questions)]
    limits: dict[str, Any] = {"most_asks": asks, "time_limit": time_limit}
    limits |= {"workers": workers_of(jobs, cluster), "file": Path(into) if into else None}
    with recorded() as reads, Progress("asking boxes") as bar:
        mapped = region(parameters, entry.sources, entry.rebuild, chosen, bar=bar, **limits)
    lines, assumed = unread("region", entry.design, reads), left_out(entry.design, reads)
    inequalities: tuple[Beside, ...] = ()
    if half_spaces and not mapped.stopped:
        inequalities = beside(mapped, parameters, entry.sources, entry.rebuild, chosen, time_limit=time_limit)
    show = _json if output == "json" else _text
    click.echo(show(path, mapped, inequalities, assumed, lines))
    return STOPPED_CODE if mapped.stopped else strict_code(0, lines, strict=strict, left_open=_left_open(mapped))


def _json(
    path: str, mapped: Region, inequalities: tuple[Beside, ...], assumed: Sequence[str], lines: Sequence[NotRead]
) -> str:
    rest = {"assumptions": list(assumed), "not_read": unread_json(lines)}
    return json.dumps({**as_data(path, mapped, inequalities), **rest}, indent=2)


def _text(
    path: str, mapped: Region, inequalities: tuple[Beside, ...], assumed: Sequence[str], lines: Sequence[NotRead]
) -> str:
    return "\n".join((text(path, mapped, inequalities), *left_out_text(assumed), *unread_text(lines)))


def _left_open(region: Region) -> bool:
    """Decides whether something is undecided, in a cell or whatever the values."""
    return bool(region.left_open) or any(cell.status == "undecided" for cell in region.cells)


def _entry(path: str) -> Entry:
    entry = one_entry(path)
    if entry.design.imported:
        raise UsageError(f"{path} is a manifest: write a design with `coherence import`, for manifests have no ranges")
    return entry


def as_data(path: str, region: Region, inequalities: tuple[Beside, ...] = ()) -> dict[str, Any]:
    """Returns the region as data for JSON; ends of intervals are texts in the unit of their key."""
    from coherence.base.version import VERSION
    from coherence.exploring.regions import STATUSES
    from coherence.exploring.render_half_spaces import as_data as half_spaces

    keys = [axis.key for axis in region.axes]
    cells = [
        {
            "status": cell.status,
            "box": dict(zip(keys, map(list, _ends(cell, region)), strict=True)),
            "why": list(cell.why),
        }
        for cell in region.cells
    ]
    return {
        "format_version": 2,
        "tool": "coherence region",
        "version": VERSION,
        "path": path,
        "keys": keys,
        "cells": cells,
        "shares": {status: float(region.share(status)) for status in STATUSES},
        "untouched": list(region.untouched),
        "left_open": list(region.left_open),
        "asks": region.asks,
        "half_spaces": half_spaces(inequalities),
        "no_half_space": [inequality.result.reason for inequality in inequalities if inequality.result.reason],
    }


def _ends(cell: RegionCell, region: Region) -> list[tuple[str, str]]:
    from coherence.exploring.box_answers import spelled

    return [(spelled(axis, low), spelled(axis, high)) for axis, (low, high) in zip(region.axes, cell.box, strict=True)]


def text(path: str, region: Region, inequalities: tuple[Beside, ...] = ()) -> str:
    """Returns the region as a table: one line a box, then shares and inequalities."""
    from coherence.exploring.regions import STATUSES

    rows = [("", *(axis.key for axis in region.axes), "")]
    for cell in region.cells:
        ends = [low if low == high else f"{low} .. {high}" for low, high in _ends(cell, region)]
        rows.append((cell.status, *ends, "; ".join(cell.why)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{one:<{width}}" for one, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    shares = ", ".join(f"{status} {float(region.share(status)):.1%}" for status in STATUSES)
    lines += ["", f"{path}: {shares}; {region.asks} boxes and corners asked"]
    lines += [f"in conflict whatever the values: {one}" for one in region.untouched]
    lines += [f"undecided whatever the values: {one}" for one in region.left_open]
    from coherence.exploring.render_half_spaces import in_text

    return "\n".join([*lines, *in_text(inequalities)])
