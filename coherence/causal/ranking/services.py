"""Ranks the services that may have caused an incident, from wide telemetry with one column a service and metric.

With a graph of calls: the metric in which the incident shows (a latency, failures) is a cost that callers contain, so
its excess at the target is split over the services' own parts.  Where every service counts its requests, costs are
those of a request of the target.  Without a graph: services by their largest shift.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.data.series import Series
from coherence.causal.data.usable import without_squares
from coherence.causal.ranking.rank import ALPHA, rank
from coherence.causal.ranking.shifts import by_spread, shifts

REQUESTS = ("load", "workload", "requests", "rps", "rate")  # metrics that count a service's requests
Calls = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Suspect:
    """A service that may be the cause: its score, and in words what speaks for it."""

    service: str
    score: float
    words: str


@dataclass(frozen=True)
class ServiceRanking:
    """Services, likeliest first; none is claimed where so large a sign comes by chance more often than `alpha`."""

    target: str
    suspects: tuple[Suspect, ...]
    p: float
    windows: int
    method: str
    alpha: float = ALPHA
    left_out: tuple[str, ...] = ()

    @property
    def claims_cause(self) -> bool:
        """Whether a cause is claimed at all."""
        return self.p <= self.alpha and bool(self.suspects)


def service_and_metric(column: str, services: Iterable[str] = ()) -> tuple[str, str]:
    """Splits `service.metric`, `service_metric` or `service/metric`; known services may have any name."""
    for service in sorted(services, key=len, reverse=True):
        if column.startswith(service) and re.match(r"[._/:-]", column[len(service) :]):
            return service, column[len(service) + 1 :]
    at = next((place for mark in "./:_" if (place := column.rfind(mark)) > 0), len(column))
    return column[:at], column[at + 1 :]


def rank_services(normal: Series, incident: Series, signal: str | None, calls: Calls | None) -> ServiceRanking:
    """Ranks services for an incident at `signal`, along a graph of calls (caller -> callees) if there is one.

    Raises UsageError where the signal is unknown, or is needed and missing, or a window is too short.
    """
    if signal is not None and signal not in normal:
        raise UsageError(f"no signal '{signal}' to explain: {did_you_mean(signal, normal.names)}")
    lacking = without_squares(normal, incident)
    if signal in lacking:
        raise UsageError(f"{signal} {lacking[signal]}: give it in another unit")
    normal, incident = (one.of(name for name in one.names if name not in lacking) for one in (normal, incident))
    ranking = _ranked(normal, incident, signal, calls)
    lacks = tuple(f"{name}: {why}" for name, why in lacking.items())
    return replace(ranking, left_out=(*ranking.left_out, *lacks))


def _ranked(normal: Series, incident: Series, signal: str | None, calls: Calls | None) -> ServiceRanking:
    if calls is None:
        return _by_shifts(normal, incident, signal)
    if signal is None:
        raise UsageError("a graph of calls says what caused an incident at a signal: name it with --signal")
    return _along_calls(normal, incident, signal, calls)


def _along_calls(normal: Series, incident: Series, signal: str, calls: Calls) -> ServiceRanking:
    known = {*calls, *(callee for callees in calls.values() for callee in callees)}
    target, metric = service_and_metric(signal, known)
    if target not in known:
        raise UsageError(f"the graph of calls has no service '{target}': {did_you_mean(target, known)}")
    columns = {service_and_metric(name, known): name for name in normal.names}
    before, now = (_costs(one, columns, target, metric, sorted(known)) for one in (normal, incident))
    ranking = rank(before, now, calls, target, calls=True, reference="normal data")
    moved = _moved(normal, incident, known)
    suspects = tuple(
        Suspect(one.node, one.score, one.words + (f"; of its metrics {moved[one.node]} moved most"
                if one.node in moved else "")) for one in ranking.causes
    )  # fmt: skip
    left_out = tuple(f"{one.what}: {one.why}" for one in ranking.excluded)
    method = f"excess of {metric} split along the graph of calls, over {ranking.reference}"
    far = max((cause.part / cause.normal if cause.normal else np.inf for cause in ranking.causes), default=0.0)
    p = max(ranking.p, by_spread(far, len(before.names), len(normal) / len(incident)))
    return ServiceRanking(signal, suspects, p, ranking.windows, method, left_out=left_out)


def _costs(
    series: Series, columns: Mapping[tuple[str, str], str], target: str, metric: str, services: Sequence[str]
) -> Series:
    """The metric of each service, each times its requests for one request of the target where all count them."""
    there = [service for service in services if columns.get((service, metric), "") in series]
    counted = next((one for one in REQUESTS if all(columns.get((s, one), "") in series for s in there)), None)
    values = [series[columns[service, metric]] for service in there]
    if counted is not None and counted != metric:
        base = series[columns[target, counted]]
        each = [series[columns[service, counted]] for service in there]
        with np.errstate(divide="ignore", invalid="ignore"):
            values = [np.where(base > 0, cost * count / base, np.nan) for cost, count in zip(values, each, strict=True)]
    unit = series.units.get(columns.get((target, metric), ""), "1")
    table = np.column_stack(values) if values else np.empty((len(series), 0))
    return Series(tuple(there), table, series.step, series.start, dict.fromkeys(there, unit))


def _moved(normal: Series, incident: Series, known: Iterable[str]) -> dict[str, str]:
    """The metric of each service that shifted most."""
    try:
        far = shifts(normal, incident).shifts
    except UsageError:
        return {}
    moved: dict[str, str] = {}
    for name, _ in far:
        moved.setdefault(service_and_metric(name, known)[0], service_and_metric(name, known)[1])
    return moved


def _by_shifts(normal: Series, incident: Series, signal: str | None) -> ServiceRanking:
    shifted = shifts(normal, incident)
    best: dict[str, tuple[float, str]] = {}
    for name, far in shifted.shifts:
        service, metric = service_and_metric(name)
        best.setdefault(service, (far, metric or name))
    suspects = tuple(
        Suspect(service, far, f"{metric} shifted by {far:.3g} times what is usual")
        for service, (far, metric) in best.items() if far > 0
    )  # fmt: skip
    compared = {name for name, _ in shifted.shifts}
    left_out = tuple(f"{name}: has no value in the incident" for name in normal.names if name not in compared)
    method = "largest shift: no graph of calls is given"
    return ServiceRanking(
        signal or "any signal", suspects, shifted.p, shifted.windows, method, left_out=left_out
    )  # fmt: skip
