"""Answers `reproduce --experiment`: runs systems whose truth is known, and writes a page and a picture for each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coherence.base.output_files import made_folder
from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._output import Output, put_out
from coherence.cli._progress import Progress

if TYPE_CHECKING:
    from coherence.exploring.experiments.results import ExperimentResult

ALL = "all"


def answered(names: Sequence[str], into: Path | None, output: Sequence[Output]) -> int:
    """Prints what was counted, and returns the exit code: 1 where a target is missed.

    into: a folder; each experiment has one of its own in it, with its runs, page and picture.
    """
    from coherence.exploring.experiments.results import as_json, experiment_named, experiment_names, render

    chosen = experiment_names() if ALL in names else tuple(dict.fromkeys(names))
    for name in chosen:
        experiment_named(name)
    results: list[ExperimentResult] = []
    stopped = False
    try:
        results.extend(_results(chosen, into))
    except KeyboardInterrupt:
        stopped = True
    rows = list(map(as_json, results))
    text = "".join(f"{line}\n" for result in results for line in render(result))
    text += "stopped: the same command with --into goes on\n" if stopped else ""
    put_out(output, lambda form: _json(rows) if form == "json" else text)
    return STOPPED_CODE if stopped else int(not all(row["holds"] for own in rows for row in own["truths"]))


def _results(names: Sequence[str], into: Path | None) -> Iterator[ExperimentResult]:
    """Yields the experiments, one after the other."""
    from coherence.exploring.experiments.pages import write_page
    from coherence.exploring.experiments.results import RUNS_FILE, run_experiment

    for name in names:
        folder = made_folder(into / name) if into is not None else None
        with Progress(f"running {name}") as bar:
            file = folder / RUNS_FILE if folder is not None else None
            result = run_experiment(name, file, curves=folder is not None, progress=partial(bar, label=name))
        if folder is not None:
            write_page(result, folder)
        yield result


def _json(rows: Sequence[object]) -> str:
    from coherence.door.result import head

    return json.dumps({**head("reproduce"), "experiments": rows}, indent=2) + "\n"
