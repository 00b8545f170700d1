"""Who calls whom, from traces: by hand, and what is no trace is refused with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.base.errors import InputError
from coherence.causal.ranking.call_traces import call_graph


def spans(service: str, *ids: tuple[str, str], peer: str = "") -> dict[str, Any]:
    attributes = [{"key": "peer.service", "value": {"stringValue": peer}}] if peer else []
    listed = [{"traceId": "t", "spanId": one, "parentSpanId": parent, "attributes": attributes} for one, parent in ids]
    name = {"key": "service.name", "value": {"stringValue": service}}
    return {"resource": {"attributes": [name]}, "scopeSpans": [{"spans": listed}]}


def write(path: Path, *requests: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps({"resourceSpans": request}) + "\n" for request in requests), encoding="utf-8")
    return path


def test_a_span_with_a_parent_of_another_service_is_a_call_in_whatever_order_they_come(tmp_path: Path) -> None:
    path = write(
        tmp_path / "traces.json", [spans("cart", ("2", "1"), ("3", "2")), spans("store", ("4", "3"), peer="disk")],
        [spans("web", ("1", ""), ("9", "gone"))],
    )  # fmt: skip
    graph = call_graph([path])
    assert graph.calls == {"cart": ("store",), "store": ("disk",), "web": ("cart",)}
    assert (graph.spans, graph.orphans) == (5, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"resourceMetrics": []}\n', "lacks 'resourceSpans'"),
        ('{"resourceSpans": [{"resource": {}}]}\n', "without the resource attribute service.name"),
        ('{"resourceSpans": 3}\n', "not an ExportTraceServiceRequest"),
        ('{"resourceSpans": [\n', "cut off, or not JSON"),
        ("", "the file is empty"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "traces.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        call_graph([path])
