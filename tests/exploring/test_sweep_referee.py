"""The cell of the design's own values and the analysis of the design say the same, or both are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coherence.exploring.sweep_referee import own_disagreements
from coherence.exploring.sweeps import verdict_of
from coherence.language.reading import read_text
from coherence.loops.designs.feedback_groups import Deadline
from coherence.model.elaborate import elaborate

POOL = """\
coherence: 1
components: {{web: {{load: 100, usage: load / n}}}}
loops:
  hpa:
    timescale: {{period: 15 s, phase: 0 s}}
    target: {{signal: "{reading}", setpoint: 7}}
    actuation: {{signal: web.n, law: proportional, bounds: [1, 60], from: 9}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reading", "verdict", "wrong"),
    [("web.usage", "settles", "oscillates"), ("delayed(web.usage, 30 s)", "oscillates", "settles")],
)
def test_a_wrong_cell_stands_beside_the_analysis(reading: str, verdict: str, wrong: str) -> None:
    model = elaborate(read_text(POOL.format(reading=reading), "d.yaml"))
    cell = verdict_of(model, (), Deadline(20))
    assert cell.verdict == verdict
    assert not own_disagreements(model, cell, 20)
    (disagreement,) = own_disagreements(model, replace(cell, verdict=wrong), 20)
    assert disagreement.of == ("hpa",)
    assert f"the sweep says of the design's own values: {wrong} (`coherence sweep d.yaml`)" in disagreement.render()
    assert f"the analysis says: {verdict} (`coherence analyze d.yaml`)" in disagreement.render()
    assert not own_disagreements(model, replace(cell, verdict="undecided"), 20)
