"""Answers `sweep --linear`: the linear verdict at up to a million points, from a few readings of the text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError
from coherence.cli._designs import one_entry
from coherence.cli._output import put_out
from coherence.cli._progress import Progress
from coherence.cli._unread import left_out_text, strict_code, unread_text

MOST = 4_000_000  # points
IDLE = ("select", "ignore", "picture", "jobs", "cluster")


def answered(given: Mapping[str, Any]) -> int:
    """Prints the map and returns the exit code.  `given`: all parameters of the command."""
    from coherence.base.reads import recorded
    from coherence.base.watchdog import interruptible
    from coherence.door.result import head
    from coherence.door.unread import left_out, unread, unread_json
    from coherence.exploring import linear_maps, render_linear_map, swept_numbers
    from coherence.exploring.lap_readings import reading_of
    from coherence.loops.designs.feedback_groups import Deadline
    from coherence.model.elaborate import elaborate

    path, into, limit = given["path"], given["into"], given["time_limit"]
    idle = [f"--{name}" for name in IDLE if given[name]]
    if idle:
        raise UsageError(f"{idle[0]} would have no effect with --linear: it asks no question and runs in one process")
    entry = one_entry(path)
    axes = swept_numbers.axes(given["parameters"], entry.sources, most=MOST)
    model = elaborate(entry.design)
    with recorded() as reads:
        reading_of(model, Deadline(limit))
    with Progress("sweeping") as bar, interruptible(bar):
        sweep = linear_maps.linear_sweep(axes, entry.sources, entry.rebuild, seconds=limit)
        rows = linear_maps.judged(sweep, Path(into) if into else None, entry.sources, bar)
    lines, assumed = unread("sweep", entry.design, reads), (*sweep.assumptions, *left_out(entry.design, reads))
    data = {
        **head("sweep"), **render_linear_map.as_json(path, sweep, rows), "disagreements": [],
        "assumptions": list(assumed), "not_read": unread_json(lines),
    }  # fmt: skip
    text = render_linear_map.text(path, sweep, rows)
    text += "".join(f"{line}\n" for line in (*left_out_text(assumed), *unread_text(lines)))
    put_out(
        given["output"], lambda form: json.dumps(data, indent=2, allow_nan=False) + "\n" if form == "json" else text
    )
    return strict_code(0, lines, strict=given["strict"], left_open=any(mark in row for row in rows for mark in "?-"))
