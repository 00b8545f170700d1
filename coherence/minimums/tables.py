"""Writes bounds as tables with commas: the registry, one bound over its ranges, the floors of designs.

Every table begins with bound,unit,kind; numbers are in SI units, and what has none is empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from coherence.minimums.bound import Bound, Trend
from coherence.minimums.design_floors import DesignFloor
from coherence.minimums.floors import Floor, Number
from coherence.minimums.ladder import Rung

FIRST = ("bound", "unit", "kind")


def bounds_csv(bounds: Iterable[Bound]) -> str:
    """Returns a row for each bound."""
    return _csv((*FIRST, "role", "quantifier", "quantity", "formula", "assumptions", "source"), (
        {
            **_first(bound), "role": bound.role, "quantifier": bound.quantifier, "quantity": bound.quantity,
            "formula": bound.formula, "assumptions": " ".join(bound.assumptions), "source": bound.source,
        }
        for bound in bounds
    ))  # fmt: skip


def value_csv(floor: Floor, rungs: Sequence[Rung]) -> str:
    """Returns the bound at its inputs, what remains without each assumption, and its curve over each range."""
    from coherence.minimums.bound_figure import curves

    own = [name for name in floor.bound.names if floor.bound.symbol(name).way is not Trend.LIST]
    here = {name: _written(*floor.inputs[name]) for name in own}
    rows = [{**_row(floor), **here}]
    rows += [{**_row(rung.floor), "without": rung.assumption, **here} for rung in rungs if rung.floor is not None]
    for symbol, points in curves(floor.bound, floor.inputs):
        rows += [{**_first(floor.bound), "low": low, "high": high, **here, symbol: x} for x, low, high in points]
    return _csv((*FIRST, "low", "high", "without", *own), rows)


def floors_csv(designs: Iterable[tuple[str, Sequence[DesignFloor]]]) -> str:
    """Returns a row for each bound at each thing of designs (path, floors)."""
    return _csv((*FIRST, "low", "high", "thing", "loss", "missing", "design"), _floors(designs))


def _floors(designs: Iterable[tuple[str, Sequence[DesignFloor]]]) -> Iterator[dict[str, Any]]:
    for path, floors in designs:
        for one in floors:
            row = _row(one.floor) if one.floor is not None else {**_first(one.bound), "missing": one.why}
            yield {**row, "thing": one.application.thing, "loss": one.bound.loss, "design": path}


def _first(bound: Bound) -> dict[str, Any]:
    return {"bound": bound.name, "unit": bound.unit, "kind": str(bound.kind)}


def _row(floor: Floor) -> dict[str, Any]:
    return {**_first(floor.bound), "low": float(floor.low), "high": float(floor.high)}


def _written(low: Number, high: Number) -> str:
    return f"{float(low)!r}" if low == high else f"{float(low)!r} .. {float(high)!r}"


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
