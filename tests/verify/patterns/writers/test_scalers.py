"""Two writers of one field that scale it: their laws, and whether what they may write meets; by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.actions.fixed_points import Scaler
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.writers import common_fixed_point
from coherence.verify.patterns.writers._pair import WriterPair
from coherence.verify.patterns.writers._scalers import scaler_of

TEXT = """coherence: 1
components: {{web: {{cpu: 10 % .. 90 %}}}}
loops:
  a: {{{a}}}
  b: {{{b}}}
"""
OTHER = "target: {signal: web.cpu, setpoint: 50 %}, actuation: {signal: web.desired, law: proportional, bounds: [2, 9]}"


def pair_of(a: str, b: str = OTHER) -> WriterPair:
    text = TEXT.format(a=a, b=b)
    subject = Subject(read_text(text, "d"), {"d": text})
    facts = known(subject)
    ((signal, (first, second)),) = facts.written.items()
    return WriterPair(common_fixed_point.QUESTION, subject, facts, signal, first, second)


def scaling(*, setpoint: str = "setpoint: 50 %", bounds: str = ", bounds: [2, 9]", tolerance: str = "") -> str:
    target = f"target: {{signal: web.cpu, {setpoint}{tolerance}}}" if setpoint else "target: {signal: web.cpu}"
    return f"{target}, actuation: {{signal: web.desired, law: proportional{bounds}}}"


@pytest.mark.parametrize(
    ("loop", "lacks"),
    [
        (scaling(bounds=""), "bounds of a"),
        (scaling(setpoint="setpoint: 0 %"), "one positive setpoint of a"),
        (scaling(setpoint="setpoint: 40 % .. 50 %"), "one positive setpoint of a"),
    ],
)
def test_a_law_that_lacks_something_says_what(loop: str, lacks: str) -> None:
    pair = pair_of(loop)
    assert scaler_of(pair, pair.first) == lacks


def test_a_law_has_its_setpoint_its_least_tolerance_and_its_bounds() -> None:
    pair = pair_of(scaling(tolerance=", tolerance: 5 % .. 10 %"))
    law = scaler_of(pair, pair.first)
    assert isinstance(law, Scaler)
    assert (law.setpoint, law.tolerance) == (Fraction(1, 2), Fraction(1, 20))
    assert [law.low, law.high] == [2, 9]
    fixed = pair_of(scaling(bounds=", bounds: [4, 4]"))
    same = scaler_of(fixed, fixed.first)
    assert isinstance(same, Scaler)
    assert [same.low, same.high] == [4, 4]


def answers(a: str, b: str) -> list[Finding]:
    text = TEXT.format(a=a, b=b)
    return list(common_fixed_point.ask(Subject(read_text(text, "d"), {"d": text})))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        ("[2, 4]", "[5, 9]", "a keeps web.desired at 4 or less, b keeps web.desired at 5 or more"),
        ("[5, 9]", "[2, 4]", "b keeps web.desired at 4 or less, a keeps web.desired at 5 or more"),
    ],
)
def test_bounds_that_do_not_meet_are_undone_for_ever(low: str, high: str, words: str) -> None:
    (found,) = answers(scaling(bounds=f", bounds: {low}"), scaling(bounds=f", bounds: {high}"))
    assert (found.verdict, found.certainty) == (Verdict.CONFLICT, "certain")
    assert found.message.startswith(words)


def test_bounds_that_touch_meet() -> None:
    found = answers(scaling(bounds=", bounds: [2, 4]"), scaling(bounds=", bounds: [4, 9]"))
    assert not any("undo each other for ever" in one.message for one in found)
