"""Writes a Grafana dashboard of a design: its indices, margins, alerts, and the signals that it names.

SOURCE: Grafana documentation, Dashboard JSON model (schemaVersion 39).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from coherence.watching.signals import QUANTITIES, WatchedSystem

MARK = b'"coherence"'
UNITS = {"rate": "reqps", "latency": "s", "p99": "s", "service": "s", "in_time": "percentunit", "done": "reqps"}
WIDTH, HEIGHT = 12, 8


def dashboard(system: WatchedSystem) -> str:
    """Returns the JSON of a dashboard; the data source is chosen in Grafana."""
    panels = [_placed(number, panel) for number, panel in enumerate(_panels(system))]
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus", "hide": 0}
    board = {
        "title": f"Coherence of {system.system}", "uid": hashlib.sha256(system.system.encode()).hexdigest()[:12],
        "tags": ["coherence"], "schemaVersion": 39, "version": 1, "editable": True, "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"}, "timezone": "browser", "templating": {"list": [source]},
        "annotations": {"list": []}, "panels": panels,
    }  # fmt: skip
    return json.dumps(board, indent=2, ensure_ascii=False) + "\n"


def _placed(number: int, panel: dict[str, Any]) -> dict[str, Any]:
    place = {"h": HEIGHT, "w": WIDTH, "x": WIDTH * (number % 2), "y": HEIGHT * (number // 2)}
    return {**panel, "id": number + 1, "gridPos": place}


def _panels(system: WatchedSystem) -> Iterator[dict[str, Any]]:
    yield _panel("Open alerts", [("coherence_alert", "{{kind}} of {{of}}")], "short", kind="table")
    for index in ("DI", "CI", "HCL", "WPI"):
        queries = [(f'coherence_index{{index="{index}",end="{end}"}}', f"{{{{workload}}}} {end}")
                   for end in ("value", "low", "high")]  # fmt: skip
        yield _panel(f"{index}, last hour", queries, "none")
    yield _panel("Margin of the deadlines", [("coherence_margin_seconds", "{{workload}}")], "s")
    breach = [('coherence_time_to_breach_seconds{end="value"}', "{{workload}}")]
    yield _panel("Time to breach", breach, "s")
    yield _panel("Evidence of the tests (an alert at 1)", [("coherence_test_evidence_ratio", "{{test}}")], "none")
    for load in system.workloads:
        for quantity in QUANTITIES:
            if load.has(quantity):
                name = load.signal(quantity)
                yield _panel(name, [(system.queries[name], name)], UNITS.get(quantity, "short"))
    for name in system.others:
        yield _panel(name, [(system.queries[name], name)], "short")


def _panel(title: str, queries: Sequence[tuple[str, str]], unit: str, kind: str = "timeseries") -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    now = {"instant": True, "range": False, "format": "table"} if kind == "table" else {}  # a row for each series
    targets = [
        {"datasource": source, "expr": query, "legendFormat": legend, "refId": chr(ord("A") + number), **now}
        for number, (query, legend) in enumerate(queries)
    ]
    defaults = {"unit": unit, "custom": {}}
    return {"type": kind, "title": title, "datasource": source, "targets": targets,
            "fieldConfig": {"defaults": defaults, "overrides": []}, "options": {}}  # fmt: skip
