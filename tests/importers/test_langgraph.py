"""LangGraph: graphs of an application are things of which an overlay says more."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document

CONFIG = (
    '{"dependencies": ["."], "graphs": {"agent": "./a.py:graph"}, "http": {"app": "x"}, "env": {"KEY": "hunter22"}}'
)
OVERLAY = """\
coherence: 1
overlays: manifests
components: {agent: {turns: 4 .. 20}}
limits: {recursion: {uses: step_limit_1x, counts: 2 * agent.turns + 1, at_most: MOST}}
"""


def test_graphs_are_things_and_no_value_of_the_environment_is_shown() -> None:
    design = importers.design_from_sources({"langgraph.json": CONFIG})
    assert set(design.components) == {"agent"}
    listed = " ".join(words for _, words in design.not_modelled)
    assert "http" in listed
    assert "hunter22" not in listed


@pytest.mark.parametrize(("most", "conflict"), [("24", True), ("99", False)])
def test_turns_beyond_the_limit_of_an_overlay_are_a_conflict(most: str, conflict: bool, tmp_path: Path) -> None:
    (tmp_path / "langgraph.json").write_text(CONFIG)
    (tmp_path / "overlay.yaml").write_text(OVERLAY.replace("MOST", most))
    assert any(f.verdict is Verdict.CONFLICT for f in check(tmp_path).findings) is conflict


@pytest.mark.parametrize(
    ("content", "kind"),
    [(CONFIG, "LangGraph"), ('{"graphs": {"a": "b"}}', ""), ('{"graphs": [], "env": 1}', ""), ('{"graphs": {}}', "")],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "a.json")
    assert importers.kind_of(source) == kind
