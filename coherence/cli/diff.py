"""Compare two designs, or two environments of one: which verdicts and floors change, and because of which values"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.outside_text import visible
from coherence.base.watchdog import STOPPED_CODE, interruptible
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._progress import Progress
from coherence.cli._seconds import time_limit_option

if TYPE_CHECKING:
    from coherence.door.diff import DiffResult


@click.command("diff")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--since", metavar="COMMIT", help="Compare one PATH with what stood there at this commit.")
@click.option(
    "--in", "environments", multiple=True, metavar="NAME",
    help="An environment; twice for the two that are compared, or one for each design.",
)  # fmt: skip
@click.option("--select", "-s", multiple=True, metavar="COH2", help="Only codes that begin with this (repeatable).")
@click.option("--ignore", "-i", multiple=True, metavar="COH2", help="No codes that begin with this (repeatable).")
@time_limit_option(1.0, 60.0, "Of the processor; causes that are not found by then are not sought.")
@output_option("text", "markdown", "json")
def command(
    *, paths: Sequence[str], since: str | None, environments: Sequence[str], select: Sequence[str],
    ignore: Sequence[str], time_limit: float, output: Sequence[Output],
) -> int:  # fmt: skip
    """Say what changes from one design to another (PATHS are two), or of one PATH: from one environment to another, or
    since a commit.

    Each verdict that changes stands with its causes: sets of changed values of which each alone, put into the first
    design, makes the change; a set has no value that could be left out.  Exit 1: the second one has a conflict that
    the first one has not.
    """
    from coherence.door.diff import diff

    if len(paths) > 2:
        raise UsageError(f"{len(paths)} paths: two designs are compared")
    with Progress("comparing") as bar, interruptible(bar) as run:
        result = diff(
            paths[0], paths[1] if len(paths) == 2 else None, since=since or "", environments=tuple(environments),
            select=tuple(select), ignore=tuple(ignore), time_limit=time_limit,
        )  # fmt: skip
    put_out(output, lambda form: _rendered(form, result))
    return STOPPED_CODE if run.stopped else int(bool(result.new_conflicts))


def _rendered(form: str, result: DiffResult) -> str:
    if form == "markdown":
        from coherence.cli._diff_markdown import markdown

        return markdown(result)
    lines = [json.dumps(result.to_dict(), indent=2)] if form == "json" else map(visible, _text(result))
    return "".join(f"{line}\n" for line in lines)


def _text(result: DiffResult) -> Iterator[str]:
    """Yields what changes: values, verdicts with their causes, figures, floors, infrastructure."""
    from coherence.checking.repair.added_infrastructure import NONE_ADDED

    data = result.data
    yield f"{data['before']} -> {data['after']}"
    yield from _part("Values that differ:", (one["text"] for one in data["values"]))
    yield from _part("Verdicts that change:", (line for one in data["verdicts"] for line in _verdict(one)))
    yield from _part("Answers that keep their verdict, with other words:", map(_figures, data["figures"]))
    yield from _part(
        "Floors that change:",
        (f"{one['name']} of {one['thing']}: {one['before']} -> {one['after']}" for one in data["floors"]),
    )
    yield from _part(
        "Loops, in the order in which to migrate them, at their operating points:", map(_loop, data["loops"])
    )
    yield from _part("P99 of hops, by the laws of their services (predicted, first tries):", map(_tail, data["tails"]))
    yield from _part("The first design with values of the second, one kind at a time:", _table(data["sensitivity"]))
    yield from _part("Infrastructure that the second one adds:", iter(data["adds"] or [NONE_ADDED]))
    yield ""
    yield result.summary


def _loop(row: dict[str, Any]) -> str:
    if "distance" not in row:
        return f"{row['loop']}: no distance: {row['reason']}"
    apart = f"{row['loop']}: distance at most {row['distance']:.3g}, margin at least {row['margin']:.3g}"
    if not row["certified"]:
        return f"{apart}; not certified: {row['reason']}"
    return f"{apart}: the linear loop is certified to be stable, with a margin of at least {row['margin_left']:.3g}"


def _tail(row: dict[str, Any]) -> str:
    sides = (_seconds(row[side]) for side in ("before", "after"))
    times = f" ({row['ratio']:.3g} times)" if row["ratio"] is not None else ""
    return f"{row['hop']}: {' -> '.join(sides)}{times}"


def _seconds(tail: dict[str, Any] | None) -> str:
    if tail is None:
        return "no such hop"
    late = "without end" if tail["p99"] is None else f"{tail['p99']:.3g} s"
    return f"{late} at a load of {tail['load']:.3g}"


HEADS = {"values": "values", "conflicts": "conflicts", "proved": "proved", "undecided": "open", "margin": "margin",
         "carried": "carried by links", "p99": "longest P99 (s)"}  # fmt: skip


def _table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields the rows below their heads; a dash stands where a design has no such figure."""
    lines = [["", *HEADS.values()]] if rows else []
    for row in rows:
        figures = ["-" if row[key] is None else f"{row[key]:.3g}" for key in HEADS]
        lines.append([row["name"], *(figures if not row["reason"] else [figures[0], row["reason"]])])
    whole = [line for line in lines if len(line) > len(HEADS)]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    for line in lines:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=False)).rstrip()


def _part(title: str, lines: Iterator[str]) -> Iterator[str]:
    several = list(lines)
    yield from ("", title, *(f"  {line}" for line in several)) if several else ()


def _verdict(row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['code']} of {', '.join(row['of'])}: {row['before']} -> {row['after']}"
    yield from (f"  {one['message']}" for one in row["findings"]["after"] or row["findings"]["before"])
    yield from (f"  because of {' and '.join(cause)}" for cause in row["causes"])
    yield from [f"  because: {row['reason']}"] if row["reason"] else []


def _figures(row: dict[str, Any]) -> str:
    old, new = ("; ".join(one["message"] for one in row["findings"][side]) for side in ("before", "after"))
    return f"{row['code']} {row['after']}: {old} -> {new}"
