"""Reads telemetry of a Prometheus server that the user names: range queries over HTTP, nothing else is asked.

A range of more than 11,000 steps is asked in pieces.  A point that the answer lacks is missing; NaN and infinities are
values.  Nothing that a server answers is trusted: the time, the size and the shape of every answer are checked, and so
are the time, the series and the points of the whole read.  Prometheus repeats the last sample of a series for up to its
lookback (5 minutes unless configured) or until a staleness marker: that is told, since such points were not measured.

SOURCE: Prometheus documentation, HTTP API: range queries (`POST /api/v1/query_range`), expression query result formats.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.units import shorten
from coherence.causal.data.series import Floats
from coherence.causal.telemetry.bounded_http import HttpAddress, HttpAnswer, http_address, posted
from coherence.causal.telemetry.header import labelled
from coherence.causal.telemetry.http_config import NO_LOGIN, HttpLogin
from coherence.causal.telemetry.joining import joined
from coherence.causal.telemetry.parts import Rows, Story, part
from coherence.causal.telemetry.problems import problem
from coherence.causal.telemetry.prometheus_answers import (
    MOST_REMARKS,
    AnswerShapeError,
    Labels,
    QueryRefusedError,
    Series,
    matrix,
    result_of,
)
from coherence.causal.telemetry.secrets_hidden import hidden
from coherence.language.schema_kinds import Word
from coherence.simulate.telemetry.contract import Signal, Telemetry

PIECE = 10_000  # steps of one query; the server takes 11,000
LAST = 253_402_300_800  # the year 10,000, s since 1970


@dataclass(frozen=True)
class ReadLimits:
    """How much of a server is read: seconds of one answer and of all, bytes of one answer, and of all queries together
    steps, series and points."""

    answer_seconds: float = 60.0
    seconds: float = 600.0
    answer_bytes: int = 64 << 20
    steps: int = 10_000_000
    series: int = 2_000
    points: int = 20_000_000


LIMITS = ReadLimits()


@dataclass
class ServerRead:
    """One read of a server: what it may still take."""

    address: HttpAddress
    limits: ReadLimits
    until: float
    series: int = 0
    points: int = 0
    remarks: dict[str, None] = field(default_factory=dict)  # of the server, each once

    def answer(self, parameters: Mapping[str, str]) -> HttpAnswer:
        left = self.until - time.monotonic()
        if left <= 0:
            raise UsageError(
                f"{self.address.url} took more than {self.limits.seconds:.3g} s for the whole range: "
                "ask for a shorter one, a larger step, or fewer queries"
            )
        seconds, size = min(left, self.limits.answer_seconds), self.limits.answer_bytes
        return posted(self.address, "/api/v1/query_range", parameters, seconds=seconds, most_bytes=size)

    def all_remarks(self) -> list[str]:
        """Returns what the server remarks, and how much more there is."""
        more = len(self.remarks) - MOST_REMARKS
        first = [*self.remarks][:MOST_REMARKS]
        return [*first, f"the server warns or remarks {more} things more"] if more > 0 else first

    def count(self, *, series: int = 0, points: int = 0) -> None:
        """Raises UsageError where so many more are too many."""
        self.series += series
        self.points += points
        for have, most, what in (
            (self.series, self.limits.series, "series"),
            (self.points, self.limits.points, "points"),
        ):
            if have > most:
                raise UsageError(
                    f"{self.address.url} gives more than {most:,} {what}: aggregate in the query, for example "
                    "sum by (service) (...), or ask for a shorter range"
                )


def queried(
    url: str,
    queries: Mapping[str, str | Word],
    *,
    start: float,
    end: float,
    step: float,
    limits: ReadLimits = LIMITS,
    login: HttpLogin = NO_LOGIN,
) -> Telemetry:
    """Returns signals by their PromQL from start to end (s since 1970, both included), every `step` seconds.

    A query of several series gives `signal{label="..."}`, with the labels in which they differ.  The user of
    `http://user:password@host` logs in.  Raises UsageError (the URL, the range, an answer that is none of Prometheus or
    beyond a limit), InputError with the query and the server's words about it, all queries at once.
    """
    read = server_read(url, limits, login)
    _checked(queries, start, end, step, limits)
    name = read.address.url
    problems: list[Problem] = []
    rows: list[Rows] = []
    notes, left_out = ["points up to the server's lookback (5 min) after a sample repeat it"], []
    for signal, query in queries.items():
        try:
            series = series_of(read, str(query), start, end, step)
        except QueryRefusedError as error:
            problems.append(_problem(name, signal, query, str(error)))
            continue
        if not series:
            left_out.append(
                (signal, f"the query gives nothing: {shorten(str(query))}", "check its labels and the range")
            )
        if len(series) > 1:
            notes.append(f"{signal}: {len(series)} series, each a member; add sum(...) to its query for one")
        rows += _named(name, signal, str(query), series, read.address.secrets)
    if problems:
        raise InputError(problems)
    points = np.concatenate([np.zeros(0), *(row.times for row in rows)])
    story = Story(len(points), "last", [*notes, *read.all_remarks()], left_out)
    return joined([part(name, f"Prometheus, every {step:g} s", "seconds since 1970", rows, points, story)])


def server_read(url: str, limits: ReadLimits = LIMITS, login: HttpLogin = NO_LOGIN) -> ServerRead:
    """Returns what a read of a server may take; nothing is asked yet.  Raises UsageError where it is no address."""
    address = http_address(url, of="a Prometheus", example="http://localhost:9090")
    if address.headers and "Authorization" in login.headers:
        raise UsageError(f"{address.url} has a user in its address and one in --http-config: keep one of the two")
    secrets = (*address.secrets, *login.secrets)
    address = replace(address, headers={**address.headers, **login.headers}, tls=login.tls, secrets=secrets)
    return ServerRead(address, limits, time.monotonic() + limits.seconds)


def _checked(
    queries: Mapping[str, str | Word], start: float, end: float, step: float, limits: ReadLimits
) -> None:  # fmt: skip
    if not queries:
        raise UsageError("Prometheus needs queries: write `telemetry: {signal: PromQL}` into the design")
    if not (math.isfinite(start) and math.isfinite(end) and start <= end):
        raise UsageError(f"the range from {start} to {end} is empty: give its start and its end in seconds since 1970")
    if not (math.isfinite(step) and step >= 0.001):
        raise UsageError(f"step(={step}) of a range query must be at least a millisecond")
    if max(abs(start), abs(end)) >= LAST:
        raise UsageError(f"the range from {start:.15g} to {end:.15g} ends after the year 9999: give seconds since 1970")
    steps = len(queries) * ((end - start) / step + 1)
    if steps > limits.steps:
        raise UsageError(
            f"the range has {steps:,.0f} steps in all queries; {limits.steps:,} are the most: "
            "give its start and its end in seconds since 1970, or a larger step"
        )


def pieces(start: float, end: float, step: float) -> Iterator[tuple[float, float]]:
    """Ranges of at most 10,000 steps that together hold every step once.  In whole milliseconds, as the server."""
    low, high, stride = (round(1000 * time) for time in (start, end, step))
    while low <= high:
        last = min(low + (PIECE - 1) * stride, low + (high - low) // stride * stride)
        yield low / 1000, last / 1000
        low = last + stride


def series_of(read: ServerRead, query: str, start: float, end: float, step: float) -> Series:
    """Returns the points of each series of one query.  Raises QueryRefusedError with the server's words, UsageError."""
    samples: dict[Labels, list[Floats]] = {}
    for low, high in pieces(start, end, step):
        parameters = {"query": query, "start": f"{low:.3f}", "end": f"{high:.3f}", "step": f"{step:.3f}"}
        answer = read.answer(parameters)
        try:
            data, remarks = result_of(answer, read.address.secrets)
            read.remarks |= dict.fromkeys(remarks)
            for labels, points in matrix(data, low, high):
                read.count(series=labels not in samples, points=len(points))
                samples.setdefault(labels, []).append(points)
        except AnswerShapeError as error:
            url = f"{read.address.url}/api/v1/query_range"
            raise UsageError(f"{url} did not answer as Prometheus does: {error}") from None
    return {labels: np.concatenate(points) for labels, points in samples.items()}


def _problem(url: str, signal: str, query: str | Word, why: str) -> Problem:
    message = f"the query of {signal}, {shorten(str(query), 200)}, was refused: {why}"
    remedy = "mend the PromQL; it can be tried in the page of the server"
    return Problem(query.place, message, remedy) if isinstance(query, Word) else problem(url, 1, message, remedy)


def _named(url: str, signal: str, query: str, series: Series, secrets: Sequence[str]) -> Iterator[Rows]:
    every = [dict(labels) for labels in series]
    keys = {key for labels in every for key in labels}
    apart = {key for key in keys if len({labels.get(key) for labels in every}) > 1}
    for labels, points in zip(every, series.values(), strict=True):
        name = labelled(signal, {key: hidden(text, secrets) for key, text in labels.items() if key in apart})
        kind = "counter" if labels.get("__name__", "").endswith(("_total", "_bucket", "_count", "_sum")) else "gauge"
        yield Rows(Signal(name, "1", kind, f"{url} {shorten(query, 200)}"), points[:, 0].copy(), points[:, 1].copy())
