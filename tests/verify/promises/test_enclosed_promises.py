"""Promises over loops whose exact numbers grow beyond use, of every kind, beside the law in floats."""

from __future__ import annotations

import pytest

from coherence.base.clock import now
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.promises.decisions import condition_of, part_of
from coherence.verify.promises.enclosed_promises import by_enclosures
from coherence.verify.promises.outcomes import Proved, Refuted


@pytest.mark.parametrize(
    ("promise", "start", "kept"),
    [
        pytest.param("eventually_always a.x >= 0.8", 0.5, False, marks=pytest.mark.slow),
        ("eventually_always a.x >= 0.8", 0.8, True),
        pytest.param("eventually_always a.x < 0.251", 0.5, True, marks=pytest.mark.slow),
        pytest.param("eventually_always a.x < 0.25", 0.5, None, marks=pytest.mark.slow),  # the very point of rest
        ("always a.x >= 0.4", 0.5, False),
        pytest.param("always a.x >= 0.24", 0.5, True, marks=pytest.mark.slow),
        pytest.param("never a.x < 0.3", 0.5, False, marks=pytest.mark.slow),
        ("eventually a.x < 0.3", 0.5, True),
        pytest.param("eventually a.x > 0.9", 0.5, False, marks=pytest.mark.slow),
    ],
)
def test_a_promise_is_decided_by_where_the_run_goes(promise: str, start: float, kept: bool | None) -> None:
    design = read_text(
        "coherence: 1\nloops:\n  fill: {timescale: {period: 1 s}, trigger: always, actuation: {signal: a.x, law: set, "
        f'to: "a.x + 0.1 * (min(1, 150 / (800 * (1 - a.x))) - a.x)", bounds: [0, 0.99], from: {start}}}}}\n'
        f"promises: {{p: {promise}}}\n"
    )
    model, said = elaborate(design), design.promises["p"]
    outcome = by_enclosures(part_of(model, said), condition_of(model, said), said.kind, now() + 30)
    assert {Proved: True, Refuted: False, type(None): None}[type(outcome)] is kept
    if isinstance(outcome, Refuted):
        assert outcome.certainty.certain
        assert abs(float(outcome.rests_at["a.x"]) - 0.25) < 1e-12
        assert len(outcome.instants) >= 5
