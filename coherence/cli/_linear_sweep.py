"""Answers `sweep --linear`: the linear verdict at up to four million points, from a few readings of the text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError
from coherence.cli._designs import one_entry, system_of
from coherence.cli._output import put_out
from coherence.cli._progress import Progress
from coherence.cli._unread import left_out_text, strict_code, unread_text
from coherence.cli._workers import workers_of

IDLE = ("select", "ignore")


def answered(given: Mapping[str, Any]) -> int:
    """Prints the map and returns the exit code.  `given`: all parameters of the command."""
    from coherence.base.watchdog import interruptible
    from coherence.door.linear_sweep import MOST, linearised
    from coherence.exploring import render_linear_map, swept_numbers
    from coherence.reporting.pictures import files

    path, into, picture = given["path"], given["into"], given["picture"]
    idle = [f"--{name}" for name in IDLE if given[name]]
    if idle:
        raise UsageError(f"{idle[0]} would have no effect with --linear: it asks no question")
    if picture is not None:
        files.check_kind(picture)
    entry = one_entry(path)
    axes = swept_numbers.axes(given["parameters"], entry.sources, most=MOST)
    workers, file = workers_of(given["jobs"], given["cluster"]), Path(into) if into else None
    with Progress("sweeping") as bar, interruptible(bar):
        mapped = linearised(entry, path, axes, seconds=given["time_limit"], into=file, workers=workers)
    if picture is not None:
        files.write(render_linear_map.figure(system_of(path, entry), mapped.sweep, mapped.rows), picture)
    text = render_linear_map.text(path, mapped.sweep, mapped.rows)
    text += "".join(f"{line}\n" for line in (*left_out_text(mapped.data["assumptions"]), *unread_text(mapped.unread)))
    put_out(
        given["output"],
        lambda form: json.dumps(mapped.to_dict(), indent=2, allow_nan=False) + "\n" if form == "json" else text,
    )
    left_open = any(mark in row for row in mapped.rows for mark in "?-")
    return strict_code(0, mapped.unread, strict=given["strict"], left_open=left_open)
