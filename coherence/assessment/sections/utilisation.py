"""Draws how busy each station is over time, and what became of its device time: useful, in vain, hidden idle, idle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, pictured, reproduced, rounded, table
from coherence.assessment.parts.runs import RunAnswers, curves_of, means
from coherence.reporting.pictures.heat_map import HeatRow, heat_map, matrix_map
from coherence.reporting.pictures.markup import Child
from coherence.simulate.study.course import Array, CourseCurve

ORDER, TITLE = 66, "Utilisation and hidden idle time"
PARTS = 100
KINDS = ("useful", "in vain", "hidden idle", "idle")


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the heat map of busy servers, and the shares of each station's time; what is missing where none is."""
    runs = assessment.runs
    busy = {curve.thing: curve for curve in curves_of(runs.course, "busy")}
    servers = {curve.thing: curve for curve in curves_of(runs.course, "servers")}
    if runs.refused or not busy:
        return (note(f"Not drawn: {runs.refused or 'no request is served by a station of this design'}."),)
    used = {name: _used(busy[name], servers[name], runs.end) for name in busy if name in servers}
    rows = [HeatRow(name, tuple(share.tolist())) for name, (share, _) in used.items()]
    drawn = heat_map(f"Utilisation of {assessment.system}", rows, runs.end)
    shares = [HeatRow(name, _time_of(runs, name, used)) for name in used]
    parts = matrix_map(f"Device time of {assessment.system}", KINDS, shares)
    caption = "Share of the servers that are busy, in one run."
    more = ("Hidden idle: servers without work while requests wait at another station. In vain: served for nobody, as "
            "the caller had given up.")  # fmt: skip
    return (
        pictured(drawn, caption, wide=True), pictured(parts, more),
        table("Busy servers", ("station", "servers", "least busy", "mean", "busiest"),
              [_row(name, share, servers[name]) for name, (share, _) in used.items()], numbers="1 2 3 4"),
        reproduced("simulate", assessment.path, *runs.command),
    )  # fmt: skip


def _used(busy: CourseCurve, servers: CourseCurve, end: float) -> tuple[Array, Array]:
    """Returns the share of servers that are busy in each part of the run, and how many servers there are."""
    there = means(servers, end, PARTS)
    share: Array = np.clip(means(busy, end, PARTS) / np.where(there > 0, there, 1.0), 0.0, 1.0)
    return share, there


def _time_of(runs: RunAnswers, name: str, used: Mapping[str, tuple[Array, Array]]) -> tuple[float | None, ...]:
    """Returns useful, in vain, hidden idle and idle as shares of a station's time; they add up to 1."""
    share, there = used[name]
    whole = float(there.sum())
    if whole <= 0:
        return (None,) * len(KINDS)
    worked = float((share * there).sum()) / whole
    vain = worked * _vain(runs, name)
    queues = [means(curve, runs.end, PARTS) for curve in curves_of(runs.course, "queue") if curve.thing != name]
    waits = np.any([queue >= 1 for queue in queues], axis=0) if queues else np.zeros(PARTS, dtype=bool)
    hidden = float(((1 - share) * there)[waits].sum()) / whole
    return worked - vain, vain, hidden, max(0.0, 1 - worked - hidden)


def _vain(runs: RunAnswers, name: str) -> float:
    """Returns the share of what a station served whose caller had given up."""
    readings = runs.study.readings if runs.study else ()
    shares = (r.value / 100 for r in readings if r.of == name and r.what == "served in vain")
    return min(max(next(shares, 0.0), 0.0), 1.0)


def _row(name: str, share: Array, servers: CourseCurve) -> tuple[str, ...]:
    low, high = float(servers.values.min()), float(servers.values.max())
    count = rounded(low) if low == high else f"{rounded(low)} to {rounded(high)}"
    return name, count, *(f"{100 * float(n):.0f} %" for n in (share.min(), share.mean(), share.max()))
