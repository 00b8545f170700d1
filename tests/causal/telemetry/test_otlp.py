"""OTLP files, as JSON and as protobuf, against the format's own generated code."""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.causal.telemetry import aligned, read
from coherence.simulate.telemetry.contract import Telemetry
from tests.draws import few

START = 1_714_564_800
DELTA, CUMULATIVE = 1, 2


def attributes(**pairs: str) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": level}} for key, level in pairs.items()]


def point(second: int, *, start: int = START, **more: Any) -> dict[str, Any]:
    return {"timeUnixNano": str((START + second) * 10**9), "startTimeUnixNano": str(start * 10**9), **more}


def request(metrics: list[dict[str, Any]], **resource: str) -> dict[str, Any]:
    scope = {"scope": {"name": "test"}, "metrics": metrics}
    return {"resourceMetrics": [{"resource": {"attributes": attributes(**resource)}, "scopeMetrics": [scope]}]}


def every_kind() -> list[dict[str, Any]]:
    gauge = [point(s, asDouble=s / 4, attributes=attributes(pod="a")) for s in range(4)]
    gauge += [point(s, asInt=str(-s), attributes=attributes(pod='b"q')) for s in range(4)]
    cumulative = [point(s, asInt=str(level)) for s, level in enumerate((5, 9, 2, 6))]
    delta = [point(s, asDouble=2.5, start=START + s - 1) for s in range(4)]
    updown = [point(s, asInt=str(level)) for s, level in enumerate((5, 3, 4, 1))]
    buckets = [
        point(
            s, count=str(6 * s), sum=1.5 * s, bucketCounts=[str(3 * s), str(2 * s), str(s)], explicitBounds=[0.1, 2.5]
        )
        for s in range(4)
    ]
    summary = [
        point(s, count=str(s), sum=2.0 * s, quantileValues=[{"quantile": 0.99, "value": 7.0 + s}]) for s in range(4)
    ]
    exponential = [point(s, count=str(s), sum=3.0 * s, scale=1, zeroCount="0") for s in range(4)]
    return [
        {"name": "queue.length", "unit": "{request}", "gauge": {"dataPoints": gauge}},
        {
            "name": "sent",
            "unit": "By",
            "sum": {"aggregationTemporality": 2, "isMonotonic": True, "dataPoints": cumulative},
        },
        {"name": "lost", "unit": "1", "sum": {"aggregationTemporality": 1, "isMonotonic": True, "dataPoints": delta}},
        {"name": "open", "sum": {"aggregationTemporality": 2, "dataPoints": updown}},
        {"name": "wait", "unit": "ms", "histogram": {"aggregationTemporality": 2, "dataPoints": buckets}},
        {"name": "old", "summary": {"dataPoints": summary}},
        {"name": "exp", "exponentialHistogram": {"aggregationTemporality": 2, "dataPoints": exponential}},
        {"name": "nothing"},
    ]


def in_json(path: Path, requests: list[dict[str, Any]]) -> Telemetry:
    path.write_text("".join(json.dumps(one) + "\n" for one in requests), encoding="utf-8")
    return read(path)


def in_protobuf(path: Path, requests: list[dict[str, Any]], *, framed: bool) -> Telemetry:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    raw = [json_format.ParseDict(one, ExportMetricsServiceRequest()).SerializeToString() for one in requests]
    path.write_bytes(b"".join(struct.pack(">I", len(one)) + one for one in raw) if framed else b"".join(raw))
    return read(path)


def told(found: Telemetry) -> dict[str, Any]:
    return {
        s.name: (s.unit, s.kind, found[s.name].times.tolist(), found[s.name].values.tolist()) for s in found.signals
    }


def test_every_kind_of_metric(tmp_path: Path) -> None:
    found = in_json(tmp_path / "m.jsonl", [request(every_kind(), **{"service.name": "api"})])
    seen = told(found)
    times = [float(START + s) for s in range(4)]
    assert seen['queue.length{pod="a"}'] == ("1", "gauge", times, [0, 0.25, 0.5, 0.75])
    assert seen['queue.length{pod="b\\"q"}'] == ("1", "gauge", times, [0, -1, -2, -3])
    assert seen["sent"] == ("B", "counter", times, [5, 9, 2, 6])
    assert seen["lost"] == ("1", "counter", times, [2.5, 5, 7.5, 10])
    assert seen["open"][1:] == ("gauge", times, [5, 3, 4, 1])
    assert seen["wait_count"][:2] == ("1", "counter")
    assert seen["wait_sum"] == ("ms", "counter", times, [0, 1.5, 3, 4.5])
    assert seen['wait_bucket{le="0.1"}'][3] == [0, 3, 6, 9]
    assert seen['wait_bucket{le="2.5"}'][3] == [0, 5, 10, 15]
    assert seen['wait_bucket{le="+Inf"}'][3] == seen["wait_count"][3] == [0, 6, 12, 18]
    assert seen['old{quantile="0.99"}'][1:] == ("gauge", times, [7, 8, 9, 10])
    assert seen["exp_sum"][3] == [0, 3, 6, 9]
    notes = " ".join(found.origins[0].notes)
    assert "exponential histograms: count and sum were read, not buckets: 4 points" in notes
    assert "metrics without data: 1 point" in notes
    series = aligned(found, keep=("constant", "copies"))
    assert series["sent"][1:].tolist() == [4, 2, 4]  # a fall is a reset
    assert series["wait_sum"][1:].tolist() == [0.0015] * 3
    assert (series.units["sent"], series.units["wait_sum"]) == ("B/s", "1")  # seconds waited a second


@pytest.mark.parametrize("framed", [False, True])
def test_protobuf_gives_what_json_gives(tmp_path: Path, framed: bool) -> None:
    pytest.importorskip("opentelemetry.proto")
    requests = [request(every_kind(), host="x"), request(every_kind()[:2], host="y")]
    assert told(in_json(tmp_path / "m.json", requests)) == told(in_protobuf(tmp_path / "m.pb", requests, framed=framed))


@given(data=st.data())
@settings(max_examples=few(60), deadline=None)
def test_any_cut_of_a_protobuf_file_is_told_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    pytest.importorskip("opentelemetry.proto")
    folder = tmp_path_factory.mktemp("cut")
    in_protobuf(folder / "m.pb", [request(every_kind())], framed=False)
    raw = (folder / "m.pb").read_bytes()
    cut = data.draw(st.integers(0, len(raw) - 1))
    flipped = data.draw(st.integers(0, 255))
    (folder / "c.pb").write_bytes(raw[:cut] if flipped % 2 else raw[:cut] + bytes([flipped]) + raw[cut + 1 :])
    if flipped % 2:  # a cut is never read in silence
        with pytest.raises(InputError) as caught:
            read(folder / "c.pb")
        assert all(problem.remedy for problem in caught.value.problems)
        return
    with contextlib.suppress(InputError):  # a changed byte may be another number; it is no traceback
        read(folder / "c.pb")


def test_resources_that_differ_stand_in_the_name(tmp_path: Path) -> None:
    one = [{"name": "up", "gauge": {"dataPoints": [point(0, asInt="1"), point(1, asInt="0")]}}]
    found = in_json(tmp_path / "m.json", [request(one, service="api", host="x"), request(one, service="db", host="x")])
    assert [s.name for s in found.signals] == ['up{service="api"}', 'up{service="db"}']


def test_a_new_start_is_a_reset_even_where_the_value_did_not_fall(tmp_path: Path) -> None:
    points = [
        point(0, asInt="5"),
        point(1, asInt="7"),
        point(2, asInt="9", start=START + 1),
        point(3, asInt="10", start=START + 1),
    ]
    metric = {"name": "n", "sum": {"aggregationTemporality": 2, "isMonotonic": True, "dataPoints": points}}
    found = in_json(tmp_path / "m.json", [request([metric])])
    assert np.diff(found["n"].values).tolist() == [2, 9, 1]
    assert "1 reset told by a new start time alone" in found.origins[0].notes[0]


def test_no_recorded_value_is_missing_and_told(tmp_path: Path) -> None:
    points = [point(0, asInt="5"), point(1, flags=1), point(2, asInt="9")]
    found = in_json(tmp_path / "m.json", [request([{"name": "n", "gauge": {"dataPoints": points}}])])
    assert found["n"].values.tolist() == [5, 9]
    assert found.origins[0].notes == ("no recorded value: 1 point",)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"asDouble": "many"}, "could not convert"),
        ({}, "lacks 'asInt'"),
        ({"asInt": "1", "timeUnixNano": "0"}, "has no time that can be"),
    ],
)
def test_a_point_that_is_none(tmp_path: Path, bad: dict[str, Any], words: str) -> None:
    metric = {"name": "n", "gauge": {"dataPoints": [{**point(0), **bad}]}}
    with pytest.raises(InputError, match=words):
        in_json(tmp_path / "m.json", [request([metric])])


def test_buckets_that_do_not_fit_their_bounds(tmp_path: Path) -> None:
    points = [point(0, count="3", bucketCounts=["1", "2"], explicitBounds=[1.0, 2.0])]
    with pytest.raises(InputError, match="2 buckets do not fit 2 bounds"):
        in_json(tmp_path / "m.json", [request([{"name": "n", "histogram": {"dataPoints": points}}])])
