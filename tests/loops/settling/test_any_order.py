"""Answers about loops in any order and with any phases: rest, no rest, and a swing of one phase only."""

from __future__ import annotations

import math

import pytest

from coherence.base.clock import now
from coherence.base.solver import unsat
from coherence.findings.finding import Finding, Grade
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.checks.oscillation import QUESTION
from coherence.loops.designs.groups import groups
from coherence.loops.settling.any_order import graph_of, rest_finding, swing_in_some_order

STEPS = """coherence: 1
loops:
  up: {{timescale: {{period: 10 s}}, trigger: a.pods < {low}, actuation: {{signal: a.pods, by: 1, bounds: [0, 9]}}}}
  out: {{timescale: {{period: 10 s}}, trigger: a.pods >= {high}, actuation: {{signal: a.pods, by: -1, bounds: [0, 9]}}}}
"""


@pytest.mark.parametrize(("low", "high", "rests"), [(5, 6, [5]), (5, 8, [5, 6, 7]), (5, 5, []), (6, 5, [])])
def test_two_steppers_rest_between_their_thresholds_or_nowhere(low: int, high: int, rests: list[int]) -> None:
    group = groups(Subject(read_text(STEPS.format(low=low, high=high), "x.yaml"), {}))[0]
    graph = graph_of(group, math.inf)
    assert graph is not None
    assert [int(node[0]) for node in graph.rests] == rests
    proof = rest_finding(QUESTION, group, graph, math.inf)
    swing = swing_in_some_order(group, now() + 20)
    if not rests:
        assert proof is None
        assert swing is not None
        assert set(swing.choices.phases.values()) - {0}  # at equal phases both act at once, and nothing is seen to move
        return
    assert isinstance(proof, Finding)
    assert swing is None
    assert proof.evidence.grade is Grade.PROVED
    assert proof.evidence.certificate is not None
    assert unsat(proof.evidence.certificate, timeout_ms=5_000).unsat


def test_a_loop_that_writes_once_or_on_a_change_only_may_have_written_all() -> None:
    for mode in ("once", "on change"):
        text = STEPS.format(low=5, high=5).replace("by: 1, bounds", f"by: 1, mode: {mode}, bounds")
        group = groups(Subject(read_text(text, "x.yaml"), {}))[0]
        assert graph_of(group, math.inf) is None
