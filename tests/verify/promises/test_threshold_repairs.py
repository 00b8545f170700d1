"""The nearest threshold at which a promise is proved: as if each of the factors had been tried."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject, details_unasked
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.promises.decisions import Proved, decide
from coherence.verify.promises.threshold_repairs import FACTORS, lowered

FILL = """
coherence: 1
components:
  tank: {{state: "level' = level + inlet.flow / 4", step: 1 s, from: 0 .. 4}}
loops:
  fill:
    timescale: {{period: 1 s, phase: 0 s}}
    rules: [{{when: level < {at}, by: 1}}, {{when: inlet.flow >= 1, by: -1}}]
    actuation: {{signal: inlet.flow, bounds: [0, 4], from: 0}}
promises: {{dry: always level <= {most}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("most", [3, 8, 14])
def test_the_nearest_threshold_is_the_first_of_all_factors_that_is_proved(most: int) -> None:
    def proved(at: Fraction) -> bool:
        design = read_text(FILL.format(at=float(at), most=most))
        with details_unasked():
            outcome = decide(elaborate(design), design.promises["dry"], time_limit=10)
        return isinstance(outcome, Proved) and not outcome.touching

    text = FILL.format(at=20, most=most)
    design = read_text(text, "d.yaml")
    moved = [
        edit.new
        for repair in lowered(Subject(design, {"d.yaml": text}), design.promises["dry"], ("fill",))
        for edit in repair.edits
    ]
    first = next((factor for factor in FACTORS if proved(20 * factor)), None)
    assert [float(new) for new in moved] == ([] if first is None else [float(20 * first)])
