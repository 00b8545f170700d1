"""Reads OTLP metrics as JSON: one ExportMetricsServiceRequest on each line, as the collector's exporter writes them.

SOURCE: OTLP specification, JSON Protobuf encoding: lowerCamelCase keys, 64-bit integers as text, enums as numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherence.causal.telemetry.otlp_points import CUMULATIVE, DELTA, NO_VALUE, MetricPoint, Notes, bucketed, part_of
from coherence.causal.telemetry.parts import TelemetryOptions, TelemetryPart
from coherence.causal.telemetry.problems import quoted, refuse
from coherence.simulate.telemetry.bounded_files import whole_text

TEMPORALITY = {"AGGREGATION_TEMPORALITY_DELTA": DELTA, "AGGREGATION_TEMPORALITY_CUMULATIVE": CUMULATIVE}
DATA = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")


def read_json(path: Path, options: TelemetryOptions) -> TelemetryPart:
    """The metrics of a file of JSON lines, or of one JSON document.  Raises InputError."""
    notes = Notes()
    return part_of(str(path), "OTLP, JSON", _points(path, notes), notes, options)


def _points(path: Path, notes: Notes) -> Iterator[MetricPoint]:
    for line, request in requests_of(path):
        try:
            yield from points_of(request, notes, line)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            why = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            message = f"not an ExportMetricsServiceRequest: {why}"
            raise refuse(path, line, message, "export metrics with OTLP's JSON encoding") from None


def requests_of(path: Path) -> Iterator[tuple[int, Any]]:
    """Yields each request of a file with its line, metrics or traces.  Raises InputError."""
    text = whole_text(path)
    if not text.strip():
        raise refuse(path, 1, "the file is empty", "give OTLP metrics, one request on each line")
    for line, raw in enumerate(text.splitlines(), 1):
        if not raw.strip():
            continue
        try:
            yield line, json.loads(raw)
        except (json.JSONDecodeError, RecursionError) as error:
            if line == 1 and (whole := _whole(text)) is not None:
                yield from enumerate(whole if isinstance(whole, list) else [whole], 1)
                return
            why = getattr(error, "msg", "too deep")
            raise refuse(path, line, f"cut off, or not JSON: {why}", "end the file after a whole line") from None


def _whole(text: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def points_of(request: Any, notes: Notes, number: int) -> Iterator[MetricPoint]:
    """The points of one request as JSON.  Raises KeyError, TypeError, ValueError where it is none."""
    if not isinstance(request, Mapping):
        raise TypeError(f"{quoted(request)} is not an object")
    for kind in ("resourceSpans", "resourceLogs"):
        if kind in request:
            notes.met[f"{kind} (not metrics)"] += len(request[kind])
    for resource in request.get("resourceMetrics", ()):
        attributes = _attributes(resource.get("resource", {}))
        for scope in resource.get("scopeMetrics", ()):
            for metric in scope.get("metrics", ()):
                yield from _metric(metric, attributes, notes, number)


def _metric(metric: Any, resource: Mapping[str, str], notes: Notes, number: int) -> Iterator[MetricPoint]:
    kind = next((kind for kind in DATA if kind in metric), None)
    if kind is None:
        notes.met["metrics without data"] += 1
        return
    data = metric[kind]
    temporality = data.get("aggregationTemporality", 0)
    delta = TEMPORALITY.get(temporality, temporality) == DELTA
    counter = kind in ("histogram", "exponentialHistogram", "summary") or data.get("isMonotonic", False)
    for raw in data.get("dataPoints", ()):
        if int(raw.get("flags", 0)) & NO_VALUE:
            notes.met["no recorded value"] += 1
            continue
        point = MetricPoint(
            metric["name"], metric.get("unit", ""), "counter" if counter else "gauge", resource, _attributes(raw),
            int(raw.get("timeUnixNano", 0)), int(raw.get("startTimeUnixNano", 0)), 0.0, delta, number,
        )  # fmt: skip
        yield from _number(point, raw) if kind in ("gauge", "sum") else _buckets(point, kind, raw, notes)


def _number(point: MetricPoint, raw: Any) -> Iterator[MetricPoint]:
    yield replace(point, level=float(raw["asDouble"]) if "asDouble" in raw else float(int(raw["asInt"])))


def _buckets(point: MetricPoint, kind: str, raw: Any, notes: Notes) -> Iterator[MetricPoint]:
    total = float(raw.get("sum", 0)) if kind == "summary" or "sum" in raw else None  # summaries leave out a zero
    plain = kind == "histogram"
    buckets = [int(count) for count in raw.get("bucketCounts", ())] if plain else []
    bounds = [float(bound) for bound in raw.get("explicitBounds", ())]
    quantiles = [
        (float(each.get("quantile", 0)), float(each.get("value", 0))) for each in raw.get("quantileValues", ())
    ]
    if kind == "exponentialHistogram":
        notes.exponential()
    yield from bucketed(point, int(raw.get("count", 0)), total, buckets, bounds, quantiles)


def _attributes(holder: Any) -> dict[str, str]:
    return {pair["key"]: attribute_text(pair.get("value", {})) for pair in holder.get("attributes", ())}


def attribute_text(value: Any) -> str:
    """Returns an attribute's value (AnyValue as JSON) as text: texts as they are, true, false, others as JSON."""
    for level in value.values():
        if isinstance(level, bool):
            return "true" if level else "false"
        return level if isinstance(level, str) else json.dumps(level, sort_keys=True)
    return ""
