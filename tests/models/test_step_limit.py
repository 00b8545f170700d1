"""The step limit against LangGraph's own loop, which asks for the limit before it sees that nothing is left to do.

SOURCE: LangGraph 0.6.11 and 1.2.22, pregel/_loop.py, tick; the rows are runs of both (the same answers).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.limits import limit_against_demand
from tests.draws import source, trace_counts
from tests.paths import ROOT

PARTS = ("step_limit", "step_limit_1x")
ROWS = json.loads((ROOT / "tests/data/models/langgraph.json").read_text(encoding="utf-8"))["runs"]


def ends(steps: int, recursion_limit: int) -> bool:
    """Decides whether a graph of so many steps ends without an error."""
    step, stop = 1, recursion_limit
    while True:
        if step >= stop:
            return False
        if step == steps:
            return True
        step += 1


def verdict(turns: int, recursion_limit: int, part: str) -> Verdict:
    """Returns what the question about limits says of an agent of so many turns."""
    text = (
        f"coherence: 1\ncomponents: {{agent: {{turns: {turns}}}}}\nlimits: {{steps: {{uses: {part}, "
        f"counts: 2 * agent.turns + 1, at_most: {recursion_limit - 1}}}}}\n"
    )
    (finding,) = limit_against_demand.ask(Subject(read_text(text), {"<design>": text}))
    return finding.verdict


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_plain_loop_ends_as_the_measured_one(row: dict[str, Any]) -> None:
    assert ends(row["steps"], row["recursion_limit"]) is row["ends"]


@pytest.mark.parametrize("part", PARTS)
@trace_counts(40, of=PARTS)
def test_a_run_ends_exactly_where_the_limit_is_kept(traces: int, part: str) -> None:
    rng = source(5)
    for _ in range(traces):
        turns, limit = rng.randint(0, 20), rng.randint(1, 45)
        kept = verdict(turns, limit, part) is Verdict.PROVED
        assert kept is ends(2 * turns + 1, limit), (turns, limit)
