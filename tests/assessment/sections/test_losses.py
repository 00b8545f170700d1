"""Sections of `fit` on the page: lines in columns are one block, sentences are paragraphs, tables are tables."""

from __future__ import annotations

from coherence.assessment.sections.losses import section_parts
from coherence.causal.answers.answer import Section
from tests.assessment.run_assessments import assessed, rendered


def test_lines_in_columns_stand_in_one_block() -> None:
    part = Section("Telemetry", ("2 signals", "signal  unit", "a.b     1", "c.d     1", "no more"), {})
    text = rendered(tuple(section_parts(assessed(), part)))
    assert text.count("<pre") == 1
    block = text.partition("<pre")[2].partition("</pre>")[0]
    assert all(row in block for row in ("signal  unit", "a.b     1", "c.d     1"))
    assert not any(sentence in block for sentence in ("2 signals", "no more"))
    assert text.count("<p>") == 2
