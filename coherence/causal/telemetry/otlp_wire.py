"""OTLP metrics in protobuf's wire format, read into the same shape as its JSON: no generated code is needed.

A file holds one ExportMetricsServiceRequest, or several, each after its length in four bytes (big-endian), as the
collector's file exporter writes them.

SOURCE: Protocol Buffers, Encoding; opentelemetry/proto/metrics/v1/metrics.proto (numbers of the fields).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from coherence.causal.telemetry.otlp_json import points_of
from coherence.causal.telemetry.otlp_points import Notes, Point, part_of
from coherence.causal.telemetry.parts import Options, Part
from coherence.causal.telemetry.problems import refuse

Shape: TypeAlias = Mapping[int, tuple[str, str]]  # number of a field -> (key in JSON, type); "+": repeated

ANY: Shape = {1: ("stringValue", "text"), 2: ("boolValue", "bool"), 3: ("intValue", "int"),
              4: ("doubleValue", "double"), 5: ("arrayValue", "bytes"), 6: ("kvlistValue", "bytes"),
              7: ("bytesValue", "bytes")}  # fmt: skip
PAIR: Shape = {1: ("key", "text"), 2: ("value", "ANY")}
_TIMES: Shape = {2: ("startTimeUnixNano", "fixed"), 3: ("timeUnixNano", "fixed")}
NUMBER: Shape = {
    **_TIMES,
    4: ("asDouble", "double"),
    6: ("asInt", "sfixed"),
    7: ("attributes", "+PAIR"),
    8: ("flags", "int"),
}
HISTOGRAM: Shape = {**_TIMES, 4: ("count", "fixed"), 5: ("sum", "double"), 6: ("bucketCounts", "+fixed"),
                    7: ("explicitBounds", "+double"), 9: ("attributes", "+PAIR"), 10: ("flags", "int")}  # fmt: skip
EXPONENTIAL: Shape = {
    **_TIMES,
    1: ("attributes", "+PAIR"),
    4: ("count", "fixed"),
    5: ("sum", "double"),
    10: ("flags", "int"),
}
QUANTILE: Shape = {1: ("quantile", "double"), 2: ("value", "double")}
SUMMARY: Shape = {**_TIMES, 4: ("count", "fixed"), 5: ("sum", "double"), 6: ("quantileValues", "+QUANTILE"),
                  7: ("attributes", "+PAIR"), 8: ("flags", "int")}  # fmt: skip
SHAPES: Mapping[str, Shape] = {
    "REQUEST": {1: ("resourceMetrics", "+RESOURCE_METRICS")},
    "RESOURCE_METRICS": {1: ("resource", "RESOURCE"), 2: ("scopeMetrics", "+SCOPE_METRICS")},
    "RESOURCE": {1: ("attributes", "+PAIR")},
    "SCOPE_METRICS": {2: ("metrics", "+METRIC")},
    "METRIC": {1: ("name", "text"), 3: ("unit", "text"), 5: ("gauge", "NUMBERS"), 7: ("sum", "NUMBERS"),
               9: ("histogram", "HISTOGRAMS"), 10: ("exponentialHistogram", "EXPONENTIALS"),
               11: ("summary", "SUMMARIES")},
    "NUMBERS": {1: ("dataPoints", "+NUMBER"), 2: ("aggregationTemporality", "int"), 3: ("isMonotonic", "bool")},
    "HISTOGRAMS": {1: ("dataPoints", "+HISTOGRAM"), 2: ("aggregationTemporality", "int")},
    "EXPONENTIALS": {1: ("dataPoints", "+EXPONENTIAL"), 2: ("aggregationTemporality", "int")},
    "SUMMARIES": {1: ("dataPoints", "+SUMMARY")},
    "ANY": ANY, "PAIR": PAIR, "NUMBER": NUMBER, "HISTOGRAM": HISTOGRAM, "EXPONENTIAL": EXPONENTIAL,
    "QUANTILE": QUANTILE, "SUMMARY": SUMMARY,
}  # fmt: skip


class WireError(ValueError):
    """Bytes that are no message; `at` is the position of the first that is not."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(f"at byte {at:,}: {why}")


def read_protobuf(path: Path, options: Options) -> Part:
    """The metrics of a file.  Raises InputError."""
    notes = Notes()
    return part_of(str(path), "OTLP, protobuf", _points(path, notes), notes, options)


def _points(path: Path, notes: Notes) -> Iterator[Point]:
    data = path.read_bytes()
    if not data:
        raise refuse(path, 1, "the file is empty", "give OTLP metrics")
    number = 0
    try:
        for number, (low, high) in enumerate(_requests(data), 1):
            yield from points_of(message(data, low, high, "REQUEST"), notes, number)
    except (ValueError, KeyError) as error:
        why = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        problem = f"request {max(number, 1)} is cut off, or not OTLP: {why}"
        raise refuse(path, max(number, 1), problem, "export the metrics again with OTLP's protobuf encoding") from None


def _requests(data: bytes) -> Iterator[tuple[int, int]]:
    if data[0] != 0:  # a request begins with the tag of its first field, a length with a zero
        yield 0, len(data)
        return
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise WireError(at, "the length of a request is cut off")
        (size,) = struct.unpack_from(">I", data, at)
        if at + 4 + size > len(data):
            raise WireError(at, f"a request of {size:,} bytes has {len(data) - at - 4:,}")
        yield at + 4, at + 4 + size
        at += 4 + size


def message(data: bytes, at: int, end: int, kind: str) -> dict[str, Any]:
    """Known fields of a message, by their JSON keys; unknown ones are passed over.  Raises WireError."""
    shape, fields = SHAPES[kind], {}  # type: tuple[Shape, dict[str, Any]]
    while at < end:
        tag, at = varint(data, at, end)
        start, at = at, _after(data, at, end, tag & 7)
        if tag >> 3 not in shape:
            if tag >> 3 == 0:
                raise WireError(start, "a field has the number 0")
            continue
        key, wanted = shape[tag >> 3]
        levels = _levels(data, start, at, tag & 7, wanted.lstrip("+"))
        if wanted.startswith("+"):
            fields.setdefault(key, []).extend(levels)
        elif levels:
            fields[key] = levels[-1]
    return fields


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    level = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        level |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return level, at
    raise WireError(at, "a number does not end")


def _after(data: bytes, at: int, end: int, wire: int) -> int:
    if wire == 0:
        at = varint(data, at, end)[1]
    elif wire in (1, 5):
        at += 8 if wire == 1 else 4
    elif wire == 2:
        size, at = varint(data, at, end)
        at += size
    else:
        raise WireError(at, f"wire type {wire} is not used by OTLP")
    if at > end:
        raise WireError(end, "a field is cut off")
    return at


def _levels(data: bytes, start: int, end: int, wire: int, wanted: str) -> list[Any]:
    """The values of one occurrence of a field: several where it is packed."""
    if wire == 0 and wanted in ("int", "bool"):
        number = varint(data, start, end)[0]
        return [bool(number)] if wanted == "bool" else [number - (1 << 64) if number >> 63 else number]
    if wire == 1 and wanted in _EIGHT:
        return list(struct.unpack(_EIGHT[wanted].format(1), data[start:end]))
    if wire == 2:
        start = varint(data, start, end)[1]
        if wanted in _EIGHT and (end - start) % 8 == 0:
            return list(struct.unpack(_EIGHT[wanted].format((end - start) // 8), data[start:end]))
        if wanted in SHAPES:
            return [message(data, start, end, wanted)]
        if wanted == "text":
            return [_text(data, start, end)]
        if wanted == "bytes":
            return [data[start:end].hex()]
    raise WireError(start, f"a field of the wire type {wire} where {wanted} belongs")


_EIGHT = {"double": "<{}d", "fixed": "<{}Q", "sfixed": "<{}q"}


def _text(data: bytes, start: int, end: int) -> str:
    try:
        return data[start:end].decode()
    except UnicodeDecodeError:
        raise WireError(start, "a text is not UTF-8") from None
