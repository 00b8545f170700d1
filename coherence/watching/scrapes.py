"""Asks a Prometheus for the scrapes of a system since the last one: nothing between is lost, whoever was away.

Each tick asks for the whole range since the last piece that was answered, in pieces of an hour; a piece without values
is answered, too.  What a server answers is not trusted: values that are no amount are left out by the monitor, and a
server that is slow, wrong or absent raises UsageError or InputError, after which the same range is asked again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from coherence.causal.telemetry.http_config import NO_LOGIN, HttpLogin
from coherence.causal.telemetry.prometheus import ReadLimits, series_of, server_read
from coherence.causal.telemetry.prometheus_answers import QueryRefusedError

MOST_READ = 240  # scrapes of one read
LIMITS = ReadLimits(answer_seconds=10.0, seconds=30.0, answer_bytes=8 << 20, series=200, points=200_000)
Scrape = tuple[float, Mapping[str, float]]  # s since 1970, and the value of each signal that has one
Piece = tuple[float, Sequence[Scrape]]  # its end (s since 1970), and its scrapes


class ScrapeSource(Protocol):
    """Where scrapes come from: a server, a file, a simulation."""

    def pieces(self, after: float, until: float) -> Iterator[Piece]:
        """Yields the pieces of (after, until] in order; between its last scrape and its end a piece has none."""


@dataclass(frozen=True)
class PrometheusSource:
    """A server, the PromQL of each signal, and the seconds between scrapes."""

    url: str
    queries: Mapping[str, str]
    step: float
    limits: ReadLimits = LIMITS
    login: HttpLogin = NO_LOGIN

    def pieces(self, after: float, until: float) -> Iterator[Piece]:
        """Yields the scrapes at multiples of the step.  Raises UsageError."""
        first, last = math.floor(after / self.step) + 1, math.floor(until / self.step)
        for low in range(first, last + 1, MOST_READ):
            high = min(low + MOST_READ - 1, last)
            yield high * self.step, list(self._scrapes(low * self.step, high * self.step))

    def _scrapes(self, low: float, high: float) -> Iterator[Scrape]:
        columns = {name: self._column(query, low, high) for name, query in self.queries.items()}
        for number in range(round((high - low) / self.step) + 1):
            values = {name: column[number] for name, column in columns.items() if number in column}
            if values:
                yield low + number * self.step, values

    def _column(self, query: str, low: float, high: float) -> dict[int, float]:
        """Returns the value of each step, the sum of all series of the query."""
        read = server_read(self.url, self.limits, self.login)
        try:
            series = series_of(read, query, low, high, self.step)
        except QueryRefusedError as error:
            from coherence.base.errors import UsageError

            raise UsageError(f"{read.address.url} refuses {query}: {error}") from None
        column: dict[int, float] = {}
        for points in series.values():
            for time, value in points.tolist():
                number = round((time - low) / self.step)
                column[number] = column.get(number, 0.0) + value
        return column
