"""Reads OTLP metrics in protobuf, decoded by the generated code of opentelemetry-proto.

A file holds one ExportMetricsServiceRequest, or several, each after its length in four bytes (big-endian), as the
collector's file exporter writes them.

SOURCE: opentelemetry/proto/metrics/v1/metrics.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coherence.base.errors import InputError, MissingExtraError
from coherence.causal.telemetry.otlp_json import attribute_text
from coherence.causal.telemetry.otlp_points import DELTA, NO_VALUE, MetricPoint, Notes, bucketed, part_of
from coherence.causal.telemetry.parts import TelemetryOptions, TelemetryPart
from coherence.causal.telemetry.problems import refuse
from coherence.simulate.telemetry.bounded_files import whole_file


def read_protobuf(path: Path, options: TelemetryOptions) -> TelemetryPart:
    """Returns the metrics of a file.  Raises InputError, and MissingExtraError without opentelemetry-proto."""
    notes = Notes()
    return part_of(str(path), "OTLP, protobuf", _points(path, notes), notes, options)


def _points(path: Path, notes: Notes) -> Iterator[MetricPoint]:
    data = whole_file(path)
    if not data:
        raise refuse(path, 1, "the file is empty", "give OTLP metrics")
    decode = _decoder(path)
    for number, raw in enumerate(_requests(path, data), 1):
        try:
            yield from points_of(decode(raw), notes, number)
        except ValueError as error:
            raise _cut(path, number, str(error)) from None


def _cut(path: Path, number: int, why: str) -> InputError:
    remedy = "export the metrics again with OTLP's protobuf encoding"
    return refuse(path, number, f"request {number} is cut off, or not OTLP: {why}", remedy)


def _decoder(path: Path) -> Any:
    """Returns the function from bytes to an ExportMetricsServiceRequest; it raises ValueError."""
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    except ImportError:
        raise MissingExtraError(f"reading {path}", "causal") from None

    def decode(raw: bytes) -> Any:
        try:
            return ExportMetricsServiceRequest.FromString(raw)
        except DecodeError:
            raise ValueError(f"protobuf cannot decode its {len(raw):,} bytes") from None

    return decode


def _requests(path: Path, data: bytes) -> Iterator[bytes]:
    if data[0] != 0:  # a request begins with the tag of its first field, a length with a zero
        yield data
        return
    at, number = 0, 1
    while at < len(data):
        if at + 4 > len(data):
            raise _cut(path, number, f"at byte {at:,}: the length of a request is cut off")
        (size,) = struct.unpack_from(">I", data, at)
        if at + 4 + size > len(data):
            raise _cut(path, number, f"at byte {at:,}: a request of {size:,} bytes has {len(data) - at - 4:,}")
        yield data[at + 4 : at + 4 + size]
        at, number = at + 4 + size, number + 1


def points_of(request: Any, notes: Notes, number: int) -> Iterator[MetricPoint]:
    """Yields the points of one ExportMetricsServiceRequest.  Raises ValueError where a point has no number."""
    for resource in request.resource_metrics:
        attributes = _attributes(resource.resource)
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                yield from _metric(metric, attributes, notes, number)


def _metric(metric: Any, resource: Mapping[str, str], notes: Notes, number: int) -> Iterator[MetricPoint]:
    kind = metric.WhichOneof("data")
    if kind is None:
        notes.met["metrics without data"] += 1
        return
    data, plain = getattr(metric, kind), kind in ("gauge", "sum")
    delta = getattr(data, "aggregation_temporality", 0) == DELTA
    counter = not plain or getattr(data, "is_monotonic", False)
    for raw in data.data_points:
        if raw.flags & NO_VALUE:
            notes.met["no recorded value"] += 1
            continue
        point = MetricPoint(
            metric.name, metric.unit, "counter" if counter else "gauge", resource, _attributes(raw),
            raw.time_unix_nano, raw.start_time_unix_nano, _number(raw) if plain else 0.0, delta, number,
        )  # fmt: skip
        yield from (point,) if plain else _buckets(point, kind, raw, notes)


def _number(raw: Any) -> float:
    kind = raw.WhichOneof("value")
    if kind is None:
        raise ValueError("a point has neither asDouble nor asInt")
    return float(getattr(raw, kind))


def _buckets(point: MetricPoint, kind: str, raw: Any, notes: Notes) -> Iterator[MetricPoint]:
    total = raw.sum if kind == "summary" or raw.HasField("sum") else None
    plain = kind == "histogram"
    buckets, bounds = (raw.bucket_counts, raw.explicit_bounds) if plain else ((), ())
    if kind == "exponential_histogram":
        notes.exponential()
    quantiles = [(each.quantile, each.value) for each in raw.quantile_values] if kind == "summary" else []
    yield from bucketed(point, raw.count, total, list(buckets), list(bounds), quantiles)


def _attributes(holder: Any) -> dict[str, str]:
    return {pair.key: _text(pair.value) for pair in holder.attributes}


def _text(value: Any) -> str:
    if value.HasField("string_value"):
        return str(value.string_value)
    from google.protobuf.json_format import MessageToDict

    return attribute_text(MessageToDict(value))
