"""Takes the answers of a Prometheus apart, of which nothing is trusted.

SOURCE: Prometheus documentation, HTTP API: format of answers, range vectors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from coherence.base.outside_text import shown
from coherence.base.units import shorten
from coherence.causal.data.series import Floats
from coherence.causal.telemetry.bounded_http import HttpAnswer
from coherence.causal.telemetry.secrets_hidden import hidden

Labels: TypeAlias = tuple[tuple[str, str], ...]
Series: TypeAlias = Mapping[Labels, Floats]  # rows of time and level

REMARKS = {"warnings": "warns", "infos": "remarks"}
MOST_REMARKS = 20  # of one answer and of a whole read
MOST_WORDS = 1 << 20  # characters in which secrets are looked for, far more than a message shows


class QueryRefusedError(Exception):
    """The server's own words about a query."""


class AnswerShapeError(Exception):
    """What the answers of a Prometheus are, and this one is not."""


def result_of(answer: HttpAnswer, secrets: Sequence[str] = ()) -> tuple[object, tuple[str, ...]]:
    """Returns `data` of the answer, and what the server remarks on it.  Raises QueryRefusedError, AnswerShapeError.

    secrets: what no message may hold, whatever the server says.
    """
    try:
        whole = json.loads(answer.body)
    except (ValueError, RecursionError):
        whole = None
    if not isinstance(whole, dict) or whole.get("status") not in ("success", "error"):
        words = hidden(answer.body[:MOST_WORDS].decode("utf-8", "surrogateescape"), secrets)
        start = shorten(repr(words.encode("utf-8", "surrogateescape")[:80]))
        raise AnswerShapeError(f"{start}, status {answer.status} {answer.reason}: is this a Prometheus?")
    if whole["status"] == "error":
        words = f"{whole.get('errorType', 'error')}: {whole.get('error', 'no reason given')}"
        raise QueryRefusedError(shorten(hidden(words[:MOST_WORDS], secrets), 300))
    return whole.get("data"), tuple(_remarks(whole, secrets))


def _remarks(whole: Mapping[str, object], secrets: Sequence[str]) -> Iterator[str]:
    """Yields the first warnings and infos of an answer, each on one line; a partial answer is among the warnings."""
    for key, title in REMARKS.items():
        texts = whole.get(key) or ()
        for text in texts[:MOST_REMARKS] if isinstance(texts, list) else (texts,) if texts else ():
            yield shown(f"the server {title}: {hidden(str(text)[:MOST_WORDS], secrets)}", 300)


def matrix(data: object, low: float, high: float) -> Iterator[tuple[Labels, Floats]]:
    """Labels and points of each series.  Raises AnswerShapeError, QueryRefusedError."""
    result = data.get("result") if isinstance(data, dict) else None
    if not isinstance(data, dict) or data.get("resultType") != "matrix" or not isinstance(result, list):
        raise AnswerShapeError("the result of a range query is a matrix, a list of series")
    seen: set[Labels] = set()
    for series in result:
        metric = series.get("metric") if isinstance(series, dict) else None
        if not isinstance(metric, dict) or not all(isinstance(text, str) for text in metric.values()):
            raise AnswerShapeError("a series has a `metric`, an object of texts")
        if "histograms" in series:
            raise QueryRefusedError("the query gives native histograms: take histogram_quantile or histogram_sum of it")
        labels = tuple(sorted(metric.items()))
        if labels in seen:
            raise AnswerShapeError("two series of one answer have the same labels")
        seen.add(labels)
        yield labels, _points(series.get("values", ()), low, high)


def _points(values: object, low: float, high: float) -> Floats:
    try:
        points = np.array([_point(*row) for row in values], np.float64).reshape(-1, 2)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise AnswerShapeError("the values of a series are pairs of a time and a text that is a number") from None
    times = points[:, 0]
    if not ((low - 1e-3 <= times) & (times <= high + 1e-3)).all():
        raise AnswerShapeError("the times of a series lie in the range that was asked for")
    return points


def _point(at: Any, level: Any) -> tuple[float, float]:
    if not isinstance(at, int | float) or not isinstance(level, str):
        raise TypeError
    return float(at), float(level)
