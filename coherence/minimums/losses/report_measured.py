"""Renders measurements against floors as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherence.base.number_text import render_bound
from coherence.minimums.floors import Number
from coherence.minimums.losses.explanations import common
from coherence.minimums.losses.measured import CostRate, FloorMeasurement
from coherence.minimums.report import floor_json, worth_json, worth_text


def measured_text(measurements: Sequence[FloorMeasurement]) -> Iterator[str]:
    """Yields each measurement with its shares, their part of the measurement, and what would narrow the rest."""
    for row in measurements:
        unit = row.bound.unit
        yield f"\n{row.thing}: {row.bound.quantity} measured {_range(*row.measured, unit)}"
        if row.shares is None:
            name = row.bound.role if row.bound.kind.floor else f"{row.bound.kind} bound"
            yield f"  {name}: {_range(row.floor.low, row.floor.high, unit)}"
        else:
            for share in row.shares.shares:
                part = _parts(share.low, share.high, row)
                yield f"  {share.name:<26}{_range(share.low, share.high, unit)}{part}"
        yield from (f"  {line}" for line in row.explanation)
        yield from (f"  {line}" for line in worth_text(row.worth, unit))
        if row.cost is not None:
            yield f"  {_cost(row.cost)}"
        if row.band is not None and row.shares is not None:
            yield f"  published indicative band: {row.band.sentence}"
    beaten = [row.shares.explained for row in measurements if row.shares is not None and row.shares.explained]
    if len(beaten) > 1:
        sets = "; or ".join(" with ".join(one) for one in common(beaten))
        yield f"\nall measurements below their floors are explained by: {sets}"


def _range(low: Number, high: Number, unit: str) -> str:
    return render_bound(low, unit) if low == high else f"{render_bound(low, unit)} .. {render_bound(high, unit)}"


def _parts(low: Number, high: Number, row: FloorMeasurement) -> str:
    """Percentages of a measurement that is one number, with that denominator."""
    if row.measured[0] <= 0 or row.measured[0] != row.measured[1]:
        return ""
    ends = [float(x / row.measured[0]) for x in (low, high)]
    share = f"{ends[0]:.1%}" if low == high else f"{ends[0]:.1%} .. {ends[1]:.1%}"
    return f"  ({share} of the measured)"


def _cost(cost: CostRate) -> str:
    if cost.missing:
        return cost.missing
    unit = cost.unit.removesuffix("/s") + "/h"
    hourly = [float(x) * 3600 for x in (cost.low, cost.high)]
    hourly_cost = f"{hourly[0]:.6g}" if cost.low == cost.high else f"{hourly[0]:.6g} .. {hourly[1]:.6g}"
    return f"ghost cost, recoverable share of what all members cost: {hourly_cost} {unit}"


def measured_json(row: FloorMeasurement) -> dict[str, Any]:
    """Returns one measurement for programs."""
    shares = row.shares.shares if row.shares is not None else ()
    return {
        "thing": row.thing, "bound": row.bound.name, "unit": row.bound.unit, "role": str(row.bound.role),
        "measured": [float(x) for x in row.measured], "floor": floor_json(row.floor),
        "shares": [{"name": s.name, "low": float(s.low), "high": float(s.high)} for s in shares],
        "violated": list(row.shares.violated) if row.shares is not None else [],
        "explained": [list(one.assumptions) for one in row.shares.explained] if row.shares is not None else [],
        "said": list(row.explanation),
        "value_of_telemetry": [worth_json(worth) for worth in row.worth],
        "cost": _cost_json(row.cost),
        "published_band": None if row.band is None else {
            "low": float(row.band.low), "high": float(row.band.high), "denominator": row.band.denominator,
            "elsewhere": row.band.elsewhere, "holds": row.band.holds, "here": row.band.here,
        },
    }  # fmt: skip


def _cost_json(cost: CostRate | None) -> dict[str, Any] | None:
    if cost is None:
        return None
    if cost.missing:
        return {"missing": cost.missing}
    return {"low": float(cost.low), "high": float(cost.high), "unit": cost.unit}
