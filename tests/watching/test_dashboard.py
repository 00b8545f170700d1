"""The dashboard of a design: every signal has a panel, and nothing overlaps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coherence.watching.dashboard import dashboard
from tests.watching.systems import system

TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
SOURCE = {"type": "object", "additionalProperties": False, "properties": {"type": TEXT, "uid": TEXT}}


def _whole(least: int, most: int = 2**32 - 1) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


def _closed(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    """Returns the schema of an object that has these keys and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _each(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


# SOURCE: grafana/grafana, kinds/dashboard/dashboard_kind.cue: names, types and ranges of the parts that are written
TARGET = _closed(
    {"datasource": SOURCE, "expr": {**TEXT, "minLength": 1}, "legendFormat": TEXT, "instant": FLAG, "range": FLAG,
     "refId": {**TEXT, "pattern": "^[A-Z]$"}, "format": {"enum": ["table", "time_series", "heatmap"]}},
    "instant", "range", "format",
)  # fmt: skip
PANEL = _closed({
    "type": {"enum": ["timeseries", "table"]}, "id": _whole(1), "title": TEXT, "datasource": SOURCE,
    "gridPos": _closed({"h": _whole(1), "w": _whole(1, 24), "x": _whole(0, 23), "y": _whole(0)}),
    "targets": {**_each(TARGET), "minItems": 1}, "options": {"type": "object"},
    "fieldConfig": _closed({"defaults": _closed({"unit": TEXT, "custom": {"type": "object"}}), "overrides": _each({})}),
})  # fmt: skip
VARIABLE = _closed({
    "name": TEXT, "label": TEXT, "query": TEXT, "hide": {"enum": [0, 1, 2]},
    "type": {"enum": ["query", "adhoc", "constant", "datasource", "interval", "textbox", "custom", "system"]},
})  # fmt: skip
BOARD = _closed({
    "title": TEXT, "uid": {**TEXT, "minLength": 8, "maxLength": 40}, "tags": _each(TEXT), "timezone": TEXT,
    "schemaVersion": _whole(0, 2**16 - 1), "version": _whole(0), "editable": FLAG, "refresh": TEXT,
    "time": _closed({"from": TEXT, "to": TEXT}), "templating": _closed({"list": _each(VARIABLE)}),
    "annotations": _closed({"list": _each({})}), "panels": _each(PANEL),
})  # fmt: skip


def test_it_has_the_keys_and_types_of_the_classic_model() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    board = json.loads(dashboard(system()))
    jsonschema.Draft202012Validator(BOARD).validate(board)
    names = {variable["name"] for variable in board["templating"]["list"]}
    used = {
        part["uid"] for panel in board["panels"] for part in (panel["datasource"], panel["targets"][0]["datasource"])
    }
    assert used == {f"${{{name}}}" for name in names}
    for panel in board["panels"]:
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        tabled = [target.get("instant") and target.get("format") == "table" for target in panel["targets"]]
        assert all(tabled) is (panel["type"] == "table")  # a table of ranges shows one series alone


def test_every_index_and_signal_has_a_panel_of_its_own_place() -> None:
    board = json.loads(dashboard(system()))
    titles = [panel["title"] for panel in board["panels"]]
    assert {"DI, last hour", "WPI, last hour", "web.rate", "pool.members"} <= set(titles)
    places = {(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]}
    assert len(places) == len({p["id"] for p in board["panels"]}) == len(titles)
    queries = {target["expr"] for panel in board["panels"] for target in panel["targets"]}
    assert set(system().queries.values()) <= queries
    assert dashboard(system()) == dashboard(system())
