"""Fits the step time of inference servers of a design to what running ones counted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.cli._designs import one_entry
from coherence.door.result import head

if TYPE_CHECKING:
    from coherence.simulate.serving.of_design import Engine
    from coherence.simulate.serving.server import StepTime

UNITS = {"step_time": "s", "per_prompt_token": "s/token", "per_request": "s", "per_cached_token": "s/token"}


def fitted_step_times(path: str, named: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the keys to write into the design, for each server named as SERVER=FOLDER (several: all its runs)."""
    from coherence.simulate.processes import FIRST_BURST
    from coherence.simulate.serving.fit import fit_step_time
    from coherence.simulate.serving.logs import read_counters
    from coherence.simulate.serving.of_design import engines_of

    engines = {engine.name: engine for engine in engines_of(one_entry(path).design, first_burst=FIRST_BURST)}
    rows = []
    for name, folders in _folders(named, engines).items():
        engine, counters = engines[name], [read_counters(folder) for folder in folders]
        step, error = fit_step_time(*counters, server=engine.server, experts=engine.step.experts)
        requests = sum(len(run.first) for run in counters)
        rows.append({"server": name, "requests": requests, "residual": error, **_keys(step)})
    return rows


def rendered(rows: Sequence[Mapping[str, Any]], form: str) -> str:
    """Returns fitted step times as JSON or text."""
    if form == "json":
        return json.dumps({**head("fit"), "servers": rows}, indent=2) + "\n"
    return "".join(f"{line}\n" for line in _lines(rows))


def _folders(named: Sequence[str], engines: Mapping[str, Engine]) -> Mapping[str, list[Path]]:
    folders: dict[str, list[Path]] = {}
    for text in named:
        name, _, folder = text.partition("=")
        if not folder:
            raise UsageError(f"--serving {text!r}: write SERVER=FOLDER, for example engine=logs")
        if name not in engines:
            raise UsageError(f"no inference server '{name}': {did_you_mean(name, engines) or 'the design has none'}")
        folders.setdefault(name, []).append(Path(folder))
    return folders


def _keys(step: StepTime) -> Mapping[str, float]:
    """Returns the keys of the part; those of a group of accelerators are said for the whole group."""
    times = (step.fixed, step.per_prefill_token, step.per_sequence, step.per_context_token)
    experts = {} if step.experts is None else {"experts_time": step.experts.seconds}
    return dict(zip(UNITS, times, strict=True)) | experts


def _lines(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    for row in rows:
        yield f"# fitted to what {row['requests']} requests made {row['server']} do, not to their waits;"
        yield f"# residual {row['residual']:.1%}. A group of accelerators is one here: leave out tensor_parallel"
        yield f"{row['server']}:"
        for key, value in row.items():
            if key in {**UNITS, "experts_time": "s"}:
                yield f"  {key}: {value:.6g} {UNITS.get(key, 's')}"
