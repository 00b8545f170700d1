"""Tells what the logged signals identify of device time, what they leave open, and what else to log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable
from coherence.causal.data.series import Series
from coherence.causal.ledger.auditability import FIELDS, Audit, AuditPart, AuditSignal, audit, sums_of
from coherence.causal.ledger.of_design import Booked
from coherence.causal.ledger.report import audit_to_dict
from coherence.causal.ledger.times import layout
from coherence.causal.session.context import Context

ORDER = 75
TITLE = "What is logged, and what that leaves open"
HOUR, MOST = 3600.0, 4
ROUNDED = 1e-6  # of provisioned device-seconds: telemetry has so many digits


def answer(context: Context) -> Section | None:
    """Intervals of the states that no signal tells, and the decisions that could be told afterwards."""
    loops = tuple(_decisions(context))
    booked = context.booked
    kinds = dict(_audits(booked)) if booked is not None and booked.series is not None else {}
    if not kinds and not loops:
        return None
    lines: list[str | TextTable] = []
    for device, of_device in kinds.items():
        lines += _parts(device, of_device, booked) if booked is not None else []
    lines += [f"{name}: {_words(lacks)}" for name, lacks in loops]
    data: dict[str, Any] = {"devices": {device: audit_to_dict(kind) for device, kind in kinds.items()}}
    return Section(
        TITLE, tuple(lines), {**data, "loops": [{"loop": n, "missing": list(lacks)} for n, lacks in loops]}, brief=()
    )


def _audits(booked: Booked) -> Iterator[tuple[str, Audit]]:
    """One audit for each kind of device; values are device-seconds of the window."""
    fleet, series = booked.fleet, booked.series
    if fleet is None or series is None:
        return
    whole = series.values[np.isfinite(series.values).all(axis=1)]
    if not len(whole):
        return
    means = dict(zip(series.names, whole.mean(axis=0).tolist(), strict=True))
    for device, count in zip(fleet.devices, fleet.count.tolist(), strict=True):
        yield device, _audit(fleet.classes, device, count, means, len(whole) * series.step)


def _audit(classes: tuple[str, ...], device: str, count: float, means: dict[str, float], window: float) -> Audit:
    parts = layout(classes)
    sums = sums_of(classes)
    logged = [name for name in sums if f"{device}.{name}" in means and name != "count"]
    alone = sum(means[f"{device}.{name}"] for name in logged if name in parts)
    whole = max(count, alone) if alone <= count * (1 + 1e-6) else count
    signals = [AuditSignal(name, (sums[name],), (means[f"{device}.{name}"] * window,)) for name in logged]
    signals.append(AuditSignal("count", (sums["count"],), (whole * window,)))
    further = [AuditSignal(name, (sums[name],)) for name in sums if name not in logged and name != "count"]
    return audit(parts, signals, further)


def _parts(device: str, audit: Audit, booked: Booked) -> Iterator[str | TextTable]:
    """The widest intervals of one kind of device, and the signals that close them."""
    assert booked.fleet is not None
    if audit.contradiction:
        yield f"{device}: no ledger has these sums: {', '.join(audit.contradiction)}; two of them count the same time"
        return
    count = float(booked.fleet.count[booked.fleet.devices.index(device)])
    provisioned = count * _window(booked.series)
    open_ = [part for part in audit.parts if part.width > ROUNDED * provisioned]
    if not open_:
        yield f"{device}: every state is told: the logged ones add up to all {count:g} devices"
        return
    rows = []
    for (low, high), alike in _alike(open_):
        left = f"{100 * (high - low) / provisioned:.1f} %"
        rows.append((_listed([one.name for one in alike]), render_number(low / HOUR), render_number(high / HOUR), left))
    yield TextTable(
        (f"states of {device} that are not told", "least device-h", "most device-h", "left open"), tuple(rows)
    )
    yield f"to tell each of them, log {_listed([f'{device}.{name}' for name in audit.order])}"


def _alike(parts: Sequence[AuditPart]) -> list[tuple[tuple[float, float], list[AuditPart]]]:
    """States with the same interval, the widest first."""
    groups: dict[tuple[float, float], list[AuditPart]] = {}
    for part in parts:
        groups.setdefault((float(f"{part.low:.9g}"), float(f"{part.high:.9g}")), []).append(part)
    return sorted(groups.items(), key=lambda group: group[0][0] - group[0][1])


def _window(series: Series | None) -> float:
    if series is None:
        return 0.0
    return float(np.isfinite(series.values).all(axis=1).sum()) * series.step


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST])
    return f"{shown}, and {len(names) - MOST} more" if len(names) > MOST else shown


# -- decisions of loops -------------------------------------------------------------------------------


def _decisions(context: Context) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(loop, fields that its log lacks) of each loop that says what it logs; its own name goes without saying."""
    for name, loop in context.design.loops.items():
        if loop.logs:
            has = {str(log).strip().replace(" ", "_") for log in loop.logs} | {"loop"}
            yield name, tuple(one for one in FIELDS if one not in has)


def _words(lacks: Sequence[str]) -> str:
    if not lacks:
        return "its decisions can be told afterwards, each with its reading, target and cause"
    return f"its decisions cannot be told afterwards: its log lacks {' and '.join(lacks)}"
