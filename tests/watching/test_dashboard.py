"""The dashboard of a design: every signal has a panel, and nothing overlaps."""

from __future__ import annotations

import json

from coherence.watching.dashboard import dashboard
from tests.watching.systems import system


def test_every_index_and_signal_has_a_panel_of_its_own_place() -> None:
    board = json.loads(dashboard(system()))
    titles = [panel["title"] for panel in board["panels"]]
    assert {"DI, last hour", "WPI, last hour", "web.rate", "pool.members"} <= set(titles)
    places = {(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]}
    assert len(places) == len({p["id"] for p in board["panels"]}) == len(titles)
    queries = {target["expr"] for panel in board["panels"] for target in panel["targets"]}
    assert set(system().queries.values()) <= queries
    assert dashboard(system()) == dashboard(system())
