"""Measurements against floors as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherence.minimums.floors import Number
from coherence.minimums.measured import Cost, Measured
from coherence.minimums.report import floor_json, shown, worth_json, worth_text


def measured_text(found: Sequence[Measured]) -> Iterator[str]:
    """Each measurement with its shares, their part of the measurement, and what would narrow the rest."""
    for one in found:
        unit = one.bound.unit
        yield f"\n{one.thing}: {one.bound.quantity} measured {_range(*one.measured, unit)}"
        if one.shares is None:
            name = one.bound.role if one.bound.kind.floor else f"{one.bound.kind} bound"
            yield f"  {name}: {_range(one.floor.low, one.floor.high, unit)}"
        else:
            for share in one.shares.shares:
                part = _parts(share.low, share.high, one)
                yield f"  {share.name:<26}{_range(share.low, share.high, unit)}{part}"
        yield from (f"  {line}" for line in one.said)
        yield from (f"  {line}" for line in worth_text(one.worth, unit))
        if one.cost is not None:
            yield f"  {_cost(one.cost)}"
        if one.band is not None and one.shares is not None:
            yield f"  published indicative band: {one.band.told}"


def _range(low: Number, high: Number, unit: str) -> str:
    return shown(low, unit) if low == high else f"{shown(low, unit)} .. {shown(high, unit)}"


def _parts(low: Number, high: Number, one: Measured) -> str:
    """Percentages of a measurement that is one number, with that denominator."""
    if one.measured[0] <= 0 or one.measured[0] != one.measured[1]:
        return ""
    ends = [float(x / one.measured[0]) for x in (low, high)]
    told = f"{ends[0]:.1%}" if low == high else f"{ends[0]:.1%} .. {ends[1]:.1%}"
    return f"  ({told} of the measured)"


def _cost(cost: Cost) -> str:
    if cost.missing:
        return cost.missing
    unit = cost.unit.removesuffix("/s") + "/h"
    hourly = [float(x) * 3600 for x in (cost.low, cost.high)]
    told = f"{hourly[0]:.6g}" if cost.low == cost.high else f"{hourly[0]:.6g} .. {hourly[1]:.6g}"
    return f"ghost cost, recoverable share of what all members cost: {told} {unit}"


def measured_json(one: Measured) -> dict[str, Any]:
    """One measurement for programs."""
    shares = one.shares.shares if one.shares is not None else ()
    return {
        "thing": one.thing, "bound": one.bound.name, "unit": one.bound.unit, "role": str(one.bound.role),
        "measured": [float(x) for x in one.measured], "floor": floor_json(one.floor),
        "shares": [{"name": s.name, "low": float(s.low), "high": float(s.high)} for s in shares],
        "violated": list(one.shares.violated) if one.shares is not None else [],
        "said": list(one.said),
        "value_of_telemetry": [worth_json(worth) for worth in one.worth],
        "cost": _cost_json(one.cost),
        "published_band": None if one.band is None else {
            "low": float(one.band.low), "high": float(one.band.high), "denominator": one.band.denominator,
            "elsewhere": one.band.elsewhere, "holds": one.band.holds,
        },
    }  # fmt: skip


def _cost_json(cost: Cost | None) -> dict[str, Any] | None:
    if cost is None:
        return None
    if cost.missing:
        return {"missing": cost.missing}
    return {"low": float(cost.low), "high": float(cost.high), "unit": cost.unit}
