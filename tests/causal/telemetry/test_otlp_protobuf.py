"""OTLP in protobuf: attributes of every type as in JSON, values that are missing, requests that are cut, no library."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from coherence.base.errors import InputError, MissingExtraError
from coherence.causal.telemetry import read
from coherence.causal.telemetry.otlp_json import attribute_text, points_of
from coherence.causal.telemetry.otlp_points import MetricPoint, Notes
from coherence.causal.telemetry.otlp_protobuf import points_of as points_of_message

pytest.importorskip("opentelemetry.proto")

VALUES: list[tuple[dict[str, Any], str]] = [
    ({"stringValue": "a"}, "a"),
    ({"stringValue": ""}, ""),
    ({"boolValue": True}, "true"),
    ({"boolValue": False}, "false"),
    ({"intValue": "-5"}, "-5"),
    ({"doubleValue": 0.5}, "0.5"),
    ({"arrayValue": {"values": [{"stringValue": "x"}, {"intValue": "1"}]}},
     '{"values": [{"stringValue": "x"}, {"intValue": "1"}]}'),
    ({"bytesValue": "AAE="}, "AAE="),
    ({}, ""),
]  # fmt: skip


def gauge(value: dict[str, Any], **number: Any) -> dict[str, Any]:
    points = [{"timeUnixNano": "5", "attributes": [{"key": "k", "value": value}], **number}]
    return {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "g", "gauge": {"dataPoints": points}}]}]}]}


def message(request: dict[str, Any]) -> Any:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    return json_format.ParseDict(request, ExportMetricsServiceRequest())


@pytest.mark.parametrize(("value", "text"), VALUES)
def test_attributes_are_the_same_text_in_json_and_in_protobuf(value: dict[str, Any], text: str) -> None:
    assert attribute_text(value) == text
    request = gauge(value, asDouble=1.5)
    expected = [MetricPoint("g", "", "gauge", {}, {"k": text}, 5, 0, 1.5)]
    assert list(points_of(request, Notes(), 1)) == expected
    assert list(points_of_message(message(request), Notes(), 1)) == expected


def test_a_whole_number_is_read_as_a_number() -> None:
    (point,) = points_of_message(message(gauge({"stringValue": "a"}, asInt="-7")), Notes(), 3)
    assert (point.level, point.number) == (-7.0, 3)


def test_a_point_without_a_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.pb").write_bytes(message(gauge({"stringValue": "a"})).SerializeToString())
    with pytest.raises(InputError, match="a point has neither asDouble nor asInt"):
        read(tmp_path / "m.pb")


def test_a_point_flagged_as_not_recorded_is_counted_and_left_out() -> None:
    notes = Notes()
    assert list(points_of_message(message(gauge({}, asDouble=1.0, flags=1)), notes, 1)) == []
    assert notes.met == {"no recorded value": 1}


@pytest.mark.parametrize("cut", [2, 10])
def test_a_framed_request_that_is_cut_is_named_by_its_number(tmp_path: Path, cut: int) -> None:
    raw = message(gauge({"stringValue": "a"}, asDouble=1.0)).SerializeToString()
    framed = struct.pack(">I", len(raw)) + raw
    (tmp_path / "m.pb").write_bytes(framed + framed[:cut])
    with pytest.raises(InputError, match=r"request 2 is cut off, or not OTLP: at byte \d+: "):
        read(tmp_path / "m.pb")


def test_bytes_that_protobuf_cannot_decode_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.pb").write_bytes(struct.pack(">I", 3) + b"\x0a\xff\x01")
    with pytest.raises(InputError, match="protobuf cannot decode its 3 bytes"):
        read(tmp_path / "m.pb")


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.pb").write_bytes(message(gauge({}, asDouble=1.0)).SerializeToString())
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.metrics.v1.metrics_service_pb2", None)
    with pytest.raises(MissingExtraError, match=r"coherence-engine\[causal\]"):
        read(tmp_path / "m.pb")


def test_json_lines_need_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    lines = [gauge({"stringValue": "a"}, asDouble=1.0)]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert [signal.name for signal in read(tmp_path / "m.jsonl").signals] == ['g{k="a"}']
