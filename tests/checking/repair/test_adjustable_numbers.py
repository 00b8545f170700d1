"""The numbers that a repair may change: how another value of one is written."""

from __future__ import annotations

from fractions import Fraction

from coherence.checking.repair.adjustable_numbers import AdjustableNumber, adjustable_numbers
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text

TEXT = """coherence: 1
loops:
  hpa: {uses: kubernetes_hpa, target: {signal: web.usage, setpoint: 50 %}, actuation: {signal: web.n, bounds: [1, 9]}}
"""


def default(key: str) -> tuple[AdjustableNumber, Subject]:
    """Returns a default of the part that the text does not state."""
    subject = Subject(read_text(TEXT, "d.yaml"), {"d.yaml": TEXT})
    return next(
        number for number in adjustable_numbers(subject) if number.key == key and number.anchor is not None
    ), subject


def test_a_default_that_is_written_out_has_the_unit_of_what_it_measures() -> None:
    number, subject = default("timescale.hold_down")
    edit = number.edit(subject, Fraction(600))
    assert edit is not None
    assert (edit.old, edit.new) == ("", ", timescale: {hold_down: 10 min}")
