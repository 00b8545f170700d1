"""Indices as lines of a table and as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from coherence.causal.answers.intervals import Estimate
from coherence.causal.indices._index import Measured, Part, Refusal


def lines(found: Iterable[Measured | Refusal], *, parts: bool = True) -> list[str]:
    """One block for each index: name, value, interval, what it says; its parts and notes, or what to measure."""
    rows: list[tuple[str, str, str]] = []
    for one in found:
        if isinstance(one, Refusal):
            rows.append((one.index.name, "not known", one.why))
            rows += [("", "", f"measure {what}") for what in one.measure]
            continue
        rows.append((one.index.name, shown(one.estimate, one.bound), one.says))
        rows += [(f"  {part.name}", _part(part), "") for part in one.parts if parts]
        rows += [("", "", note) for note in one.notes]
    wide = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    return [f"{name:<{wide[0]}}  {number:<{wide[1]}}  {text}".rstrip() for name, number, text in rows]


def shown(estimate: Estimate, bound: str = "") -> str:
    """`0.43 [0.37, 0.46]`, `>= 0.95`."""
    if bound:
        return f"{bound} {estimate.value:.3g}"
    if estimate.low == estimate.high or (estimate.low == -math.inf and estimate.high == math.inf):
        return f"{_number(estimate.value)}"
    return f"{_number(estimate.value)} [{_number(estimate.low)}, {_number(estimate.high)}]"


def _part(part: Part) -> str:
    return shown(part.estimate) + ("" if part.unit == "1" else f" {part.unit}")


def _number(number: float) -> str:
    return f"{number + 0.0:.3g}" if abs(number) >= 5e-4 else "0"


def as_dict(one: Measured | Refusal) -> dict[str, Any]:
    """JSON-able; an infinite end of an interval is null."""
    told: dict[str, Any] = {"name": one.index.name, "words": one.index.words, "unit": one.index.unit}
    if isinstance(one, Refusal):
        return {**told, "known": False, "why": one.why, "measure": list(one.measure)}
    return {
        **told,
        "known": True,
        "bound": one.bound or "=",
        **_estimate(one.estimate),
        "says": one.says,
        "parts": [{"name": part.name, "unit": part.unit, **_estimate(part.estimate)} for part in one.parts],
        "notes": list(one.notes),
    }


def _estimate(found: Estimate) -> dict[str, float | None]:
    numbers = {"value": found.value, "low": found.low, "high": found.high, "error": found.error}
    return {**{name: n if math.isfinite(n) else None for name, n in numbers.items()}, "level": found.level}
