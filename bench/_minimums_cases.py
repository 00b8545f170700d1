"""The shared cases of lower bounds: each by its own bound at the inputs of the case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from bench.harness import Row
from coherence.base import units
from coherence.cli._run import run
from coherence.minimums.floors import at
from coherence.minimums.registry import entry

NEAR = 1e-9


def rows() -> Iterator[Row]:
    """All rows of this part; none where the cases are not beside this clone."""
    from tests.minimums import test_cases, test_cases_fabric  # the tables of cases; no test runs on import

    found = [case.values[0] for case in test_cases.cases() if case.values[0] is not None]
    if not found:
        return
    off = [str(case["id"]) for case in found if not _met(case, *test_cases.ROWS[case["id"]])]
    yield Row("shared cases by their bounds", len(found) - len(off), f">= {len(found)}", "cases", ", ".join(off))
    wrong = [str(case["id"]) for case in found if not _by_command(case, *test_cases.ROWS[case["id"]])]
    more = test_cases_fabric.COMMANDS
    wrong += [
        name for name, (words, value) in more.items() if abs(test_cases_fabric.commanded(words) / value - 1) > NEAR
    ]
    every = len(found) + len(more)
    yield Row(
        "the same and those of fabrics by the command", every - len(wrong), f">= {every}", "cases", ", ".join(wrong)
    )


def _by_command(case: dict[str, Any], name: str, made: Any, unit: Any) -> bool:
    """Writes the inputs as arguments, with their units, and compares what the JSON of the command says."""
    bound = entry(name).bound
    words = [f"{symbol.name}={_written(made(case['inputs'])[symbol.name], symbol.unit)}" for symbol in bound.symbols]
    with redirect_stdout(StringIO()) as shown:
        run(["bound", name, *words, "-o", "json"])
    answer = json.loads(shown.getvalue())
    value = answer["value"]["low"] if words else float(at(bound, {}))  # what depends on nothing is told on its page
    return _near(value / float(unit), case)


def _written(value: Any, unit: str) -> str:
    if isinstance(value, tuple):
        return ",".join(_written(each, unit) for each in value)
    size, plain = (units.unit(unit)[0], unit) if unit != "1" else (1, "")
    return f"{float(value / size)!r} {plain}".strip()


def _met(case: dict[str, Any], name: str, made: Any, unit: Any) -> bool:
    return _near(float(at(entry(name).bound, made(case["inputs"]))) / float(unit), case)


def _near(value: float, case: dict[str, Any]) -> bool:
    expected = float(case["expected"])
    return abs(value - expected) <= max(float(case["rtol"]), 1e-12) * abs(expected)
