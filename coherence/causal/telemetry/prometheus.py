"""Reads telemetry of a Prometheus server that the user names: range queries over HTTP, nothing else is asked.

A range of more than 11,000 steps is asked in pieces.  A point that the answer lacks is missing; NaN and infinities are
values.  Prometheus repeats the last sample of a series for up to its lookback (5 minutes unless configured) or until a
staleness marker: that is told, since such points were not measured.

SOURCE: Prometheus documentation, HTTP API: range queries (`POST /api/v1/query_range`), expression query result formats.
"""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.units import shorten
from coherence.causal.telemetry.header import labelled
from coherence.causal.telemetry.joining import joined
from coherence.causal.telemetry.parts import Rows, Story, part
from coherence.causal.telemetry.problems import problem, several
from coherence.language.schema_kinds import Word
from coherence.simulate.telemetry.contract import Signal, Telemetry

MOST_POINTS = 11_000  # of one series in one answer, by the server
PIECE = 10_000
PATIENCE = 60.0  # seconds for one answer


class _ApiError(Exception):
    """The server's own words about a query."""


def queried(
    url: str, queries: Mapping[str, str | Word], *, start: float, end: float, step: float, patience: float = PATIENCE
) -> Telemetry:
    """Signals by their PromQL from start to end (s since 1970, both included), every `step` seconds.

    A query of several series gives `signal{label="..."}`, with the labels in which they differ.  Raises UsageError (the
    URL or the range), InputError with the query and the server's words about it, all queries at once.
    """
    _checked(url, queries, start, end, step)
    problems: list[Problem] = []
    rows: list[Rows] = []
    notes, left_out = ["points up to the server's lookback (5 min) after a sample repeat it"], []
    for signal, query in queries.items():
        try:
            series = _series(url, str(query), start, end, step, patience)
        except _ApiError as error:
            problems.append(_problem(url, signal, query, str(error)))
            continue
        if not series:
            left_out.append(
                (signal, f"the query gives nothing: {shorten(str(query))}", "check its labels and the range")
            )
        if len(series) > 1:
            notes.append(f"{signal}: {several(len(series), 'series', 'series')}; add sum(...) to its query for one")
        rows += _named(url, signal, str(query), series)
    if problems:
        raise InputError(problems)
    points = np.concatenate([np.zeros(0), *(one.times for one in rows)])
    answer = part(
        url,
        f"Prometheus, every {step:g} s",
        "seconds since 1970",
        rows,
        points,
        Story(len(points), "last", notes, left_out),
    )
    return joined([answer])


def _checked(url: str, queries: Mapping[str, str | Word], start: float, end: float, step: float) -> None:
    address = urllib.parse.urlsplit(url)
    if address.scheme not in ("http", "https") or not address.netloc:
        raise UsageError(f"'{url}' is not the address of a Prometheus: write for example http://localhost:9090")
    if not queries:
        raise UsageError("Prometheus needs queries: write `telemetry: {signal: PromQL}` into the design")
    if not (math.isfinite(start) and math.isfinite(end) and start <= end):
        raise UsageError(f"the range from {start} to {end} is empty: give its start and its end in seconds since 1970")
    if not (math.isfinite(step) and step >= 0.001):
        raise UsageError(f"step(={step}) of a range query must be at least a millisecond")


def pieces(start: float, end: float, step: float) -> Iterator[tuple[float, float]]:
    """Ranges of at most 10,000 steps that together hold every step once.  In whole milliseconds, as the server."""
    low, high, stride = (round(1000 * time) for time in (start, end, step))
    while low <= high:
        last = min(low + (PIECE - 1) * stride, low + (high - low) // stride * stride)
        yield low / 1000, last / 1000
        low = last + stride


def _series(
    url: str, query: str, start: float, end: float, step: float, patience: float
) -> dict[tuple[tuple[str, str], ...], list[tuple[float, float]]]:
    samples: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
    for low, high in pieces(start, end, step):
        parameters = {"query": query, "start": f"{low:.3f}", "end": f"{high:.3f}", "step": f"{step:.3f}"}
        for series in _answer(url, parameters, patience):
            labels = tuple(sorted(series["metric"].items()))
            points = samples.setdefault(labels, [])
            points += [(float(time), float(level)) for time, level in series.get("values", ())]
            if "histograms" in series:
                raise _ApiError("the query gives native histograms: take histogram_quantile or histogram_sum of it")
    return samples


def _answer(url: str, parameters: Mapping[str, str], patience: float) -> list[Any]:
    address = url.rstrip("/") + "/api/v1/query_range"
    body = urllib.parse.urlencode(parameters).encode()
    request = urllib.request.Request(address, data=body, headers={"Accept": "application/json"})  # noqa: S310  (checked)
    try:
        with urllib.request.urlopen(request, timeout=patience) as answer:  # noqa: S310
            raw = answer.read()
    except urllib.error.HTTPError as error:
        raw = error.read()
        if not _is_json(raw):
            raise UsageError(f"{address} answered {error.code} {error.reason}: is this a Prometheus?") from None
    except (urllib.error.URLError, OSError) as error:
        why = getattr(error, "reason", error)
        raise UsageError(f"{url} cannot be reached ({why}): start Prometheus, or give another address") from None
    return _result(address, raw)


def _result(address: str, raw: bytes) -> list[Any]:
    try:
        data = json.loads(raw)
        if data["status"] != "success":
            raise _ApiError(f"{data.get('errorType', 'error')}: {data.get('error', 'no reason given')}")
        result: list[Any] = data["data"]["result"]
        return result
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{address} did not answer as Prometheus does: {shorten(repr(raw[:80]))}") from None


def _is_json(raw: bytes) -> bool:
    try:
        return isinstance(json.loads(raw), dict)
    except ValueError:
        return False


def _problem(url: str, signal: str, query: str | Word, why: str) -> Problem:
    message = f"the query of {signal}, {shorten(str(query), 200)}, was refused: {why}"
    remedy = "mend the PromQL; it can be tried in the page of the server"
    return Problem(query.place, message, remedy) if isinstance(query, Word) else problem(url, 1, message, remedy)


def _named(url: str, signal: str, query: str, series: Mapping[tuple[tuple[str, str], ...], Any]) -> Iterator[Rows]:
    every = [dict(labels) for labels in series]
    keys = {key for labels in every for key in labels}
    apart = {key for key in keys if len({labels.get(key) for labels in every}) > 1}
    for labels, points in zip(every, series.values(), strict=True):
        name = labelled(signal, {key: text for key, text in labels.items() if key in apart})
        numbers = np.array(points, np.float64).reshape(-1, 2)
        kind = "counter" if labels.get("__name__", "").endswith(("_total", "_bucket", "_count", "_sum")) else "gauge"
        yield Rows(Signal(name, "1", kind, f"{url} {shorten(query, 200)}"), numbers[:, 0].copy(), numbers[:, 1].copy())
