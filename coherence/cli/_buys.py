"""Prints what a clock, a leader, a detector, a bound on delays buys: each task in each model, at given inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_bound
from coherence.minimums.coordination import AIDS, TASKS, ModelFloorValue, Task, cell_value, symbols
from coherence.minimums.floors import Span
from coherence.minimums.registry import entry


def buys(inputs: Sequence[str]) -> dict[Task, list[ModelFloorValue]]:
    """Returns the cells of every task at inputs SYMBOL=VALUE.  Raises UsageError."""
    spans = _spans(inputs)
    return {task: [cell_value(cell, spans) for cell in task.cells] for task in TASKS}


def _spans(inputs: Sequence[str]) -> dict[str, Span]:
    from coherence.door.bound import read_span

    known, spans = symbols(), dict[str, Span]()
    for text in inputs:
        name, equals, written = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' is no input; write for example failures=2")
        if name not in known:
            raise UsageError(f"no task has a symbol '{name}': {did_you_mean(name, known)}")
        if name in spans:
            raise UsageError(f"{name} is given twice")
        spans[name] = read_span(entry(known[name]).bound.symbol(name), written)
    if spans.get("failures", (1, 1))[0] < 1:
        raise UsageError("failures = 0: the tasks are of one failure or more")
    return spans


def buys_json(values: dict[Task, list[ModelFloorValue]]) -> list[dict[str, Any]]:
    """Returns the tasks for machines; `low` is null where a model cannot do it, or an input is missing."""
    return [{"task": task.name, "says": task.says, "models": list(map(_row, cells))} for task, cells in values.items()]


def _row(value: ModelFloorValue) -> dict[str, Any]:
    low = None if value.low is None or value.low == math.inf else float(value.low)
    return {
        "aids": sorted(value.cell.aids), "low": low, "unit": value.bound.unit if value.bound else "",
        "impossible": value.low == math.inf, "bound": value.cell.bound, "source": _source(value),
        "needs": list(value.missing),
    }  # fmt: skip


def _source(value: ModelFloorValue) -> str:
    return value.bound.source if value.bound else value.cell.why


def buys_text(values: dict[Task, list[ModelFloorValue]]) -> Iterator[str]:
    """Yields the tasks for people, then what the aids are."""
    for task, cells in values.items():
        yield f"{task.name}: {task.says}"
        for value in cells:
            name = " and ".join(sorted(value.cell.aids)) or "messages alone"
            from_ = f"{value.cell.bound}, {_source(value)}" if value.bound else _source(value)
            yield f"  {name:<16}  {_number(value):<24}  {from_}"
    yield "\nWhere:"
    yield from (f"  {aid}: {says}" for aid, (says, _) in AIDS.items())


def _number(value: ModelFloorValue) -> str:
    if value.low is None:
        return f"needs {', '.join(value.missing)}"
    if value.low == math.inf:
        return "impossible"
    return render_bound(value.low, value.bound.unit) if value.bound else f"{float(value.low):g}"
