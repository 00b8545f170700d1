"""Prepares a ranking of root causes: usable signals, their causes and excesses, and slopes learnt before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.data.series import Excluded, Floats, Series
from coherence.causal.ranking import slopes as linear
from coherence.causal.ranking.slopes import Cause


@dataclass(frozen=True)
class RankingSetting:
    """What a ranking reads: the ancestors of the target, their excess in both windows, and slopes learnt before."""

    names: tuple[str, ...]
    causes: tuple[tuple[Cause, ...], ...]
    target: int
    before: Floats  # excess of the normal data over their mean
    now: Floats  # incident minus the mean of the normal data
    calls: bool
    sums: tuple[tuple[Floats, Floats], ...]  # of the normal data
    steady: tuple[Floats, ...]  # slopes of the normal data alone
    excluded: tuple[Excluded, ...]


def setting_of(
    normal: Series,
    incident: Series,
    causes: Mapping[str, Iterable[str | tuple[str, int]]],
    target: str,
    calls: bool,
) -> RankingSetting:
    """Take what can be used, name what cannot.  Raises UsageError where nothing can be asked."""
    for series in (normal, incident):
        if target not in series:
            raise UsageError(f"no signal '{target}' to explain: {did_you_mean(target, series.names)}")
    if len(incident) < 2 or len(normal) < 2 * len(incident):
        raise UsageError(
            f"{len(normal)} normal and {len(incident)} incident samples: give at least 2 of the incident and twice as "
            "many of normal operation"
        )
    declared = {effect: tuple(_with_lag(one) for one in cause) for effect, cause in causes.items()}
    reached = _ancestors(declared, target)
    names, excluded = _usable(normal, incident, reached)
    if target not in names:
        raise UsageError(f"'{target}' has no values in one of the windows: give windows where it was measured")
    at = {name: number for number, name in enumerate(names)}
    graph = tuple(
        tuple(dict.fromkeys((at[c], lag) for c, lag in declared.get(name, ()) if c in at and (c, lag) != (name, 0)))
        for name in names
    )
    level = np.nanmean(normal.of(names).values, axis=0)
    before = np.nan_to_num(normal.of(names).values - level, nan=0.0, posinf=0.0, neginf=0.0)
    now = _filled(incident.of(names).values - level)
    sums = tuple(linear.moments(before, found, effect) for effect, found in enumerate(graph))
    bounds = (0.0, 1.0) if calls else (-np.inf, np.inf)
    steady = tuple(linear.least(*one, bounds) for one in sums)
    return RankingSetting(names, graph, at[target], before, now, calls, sums, steady, tuple(excluded))


def _with_lag(one: str | tuple[str, int]) -> tuple[str, int]:
    return (one, 0) if isinstance(one, str) else one


def _ancestors(declared: Mapping[str, Sequence[tuple[str, int]]], target: str) -> list[str]:
    found = [target]
    for name in found:
        found += [cause for cause, _ in dict.fromkeys(declared.get(name, ())) if cause not in found]
    return list(dict.fromkeys(found))


def _usable(normal: Series, incident: Series, reached: Iterable[str]) -> tuple[tuple[str, ...], list[Excluded]]:
    names, excluded = [], []
    for name in reached:
        absent = [told for series, told in ((normal, "normal data"), (incident, "incident")) if name not in series]
        empty = [
            told
            for series, told in ((normal, "normal data"), (incident, "incident"))
            if name in series and not np.isfinite(series[name]).any()
        ]
        if absent or empty:
            why = f"is not in the {absent[0]}" if absent else f"has no values in the {empty[0]}"
            excluded.append(Excluded(name, why, "its part is counted with what it acts on"))
            continue
        names.append(name)
        lost = int((~np.isfinite(incident[name])).sum())
        if lost:
            excluded.append(Excluded(name, f"{lost} of {len(incident)} samples of the incident are missing", ""))
    return tuple(names), excluded


def _filled(values: Floats) -> Floats:
    """Missing samples of the incident stand at the mean of the others: they say nothing."""
    finite = np.where(np.isfinite(values), values, np.nan)
    return np.where(np.isfinite(finite), finite, np.nanmean(finite, axis=0))
