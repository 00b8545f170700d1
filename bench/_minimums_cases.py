"""The shared cases of lower bounds: each by its own bound at the inputs of the case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.harness import Row
from coherence.minimums.floors import at
from coherence.minimums.registry import entry


def rows() -> Iterator[Row]:
    """All rows of this part; none where the cases are not beside this clone."""
    from tests.minimums import test_cases  # the table of cases; no test runs on import

    found = [case.values[0] for case in test_cases.cases() if case.values[0] is not None]
    if not found:
        return
    off = [str(case["id"]) for case in found if not _met(case, *test_cases.ROWS[case["id"]])]
    yield Row("shared cases by their bounds", len(found) - len(off), f">= {len(found)}", "cases", ", ".join(off))


def _met(case: dict[str, Any], name: str, made: Any, unit: Any) -> bool:
    value = float(at(entry(name).bound, made(case["inputs"]))) / float(unit)
    expected = float(case["expected"])
    return abs(value - expected) <= max(float(case["rtol"]), 1e-12) * abs(expected)
