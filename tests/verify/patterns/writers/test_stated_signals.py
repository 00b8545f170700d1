"""Two writers whose signals are stated: the value that both leave alone, or the world in which there is none."""

from __future__ import annotations

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.writers import common_fixed_point

TEXT = """coherence: 1
components: {{web: {{load: {load}, usage: {usage}}}}}
loops:
  a: {{timescale: {{period: 15 s}}, target: {{signal: web.usage, setpoint: 10}}, actuation: {{signal: web.n, law: proportional, bounds: [1, {most}], from: 1}}}}
  b: {{timescale: {{period: 15 s}}, target: {{signal: web.usage, setpoint: {other}}}, actuation: {{signal: web.n, law: proportional, bounds: [1, {most}]}}}}
"""  # noqa: E501


def asked(load: str = "100", usage: str = "load / n", most: str = "50", other: str = "15") -> Finding:
    text = TEXT.format(load=load, usage=usage, most=most, other=other)
    (finding,) = common_fixed_point.ask(Subject(read_text(text, "d"), {"d": text}))
    return finding


def test_the_value_that_both_leave_alone_is_named() -> None:
    finding = asked(most="5")
    assert finding.verdict is Verdict.PROVED
    assert finding.message == "a and b both leave web.n alone at 5"
    assert finding.evidence.numbers["web.load"][0] == 100


def test_the_witness_is_what_the_stated_load_lets_them_write() -> None:
    finding = asked()
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")
    assert [step.text for step in finding.evidence.witness][:3] == ["web.n is 1", "a writes 10", "b writes 7"]


def test_a_load_within_a_range_is_a_possible_conflict_at_a_load_of_the_range() -> None:
    finding = asked(load="40 .. 60", most="5")
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "possible")
    load = finding.evidence.numbers["web.load"][0]
    assert 40 <= load <= 60
    assert asked(load="80 .. 100", most="5").verdict is Verdict.PROVED


def test_a_value_of_the_past_is_the_value_of_a_field_that_stands_still() -> None:
    assert asked(usage='"delayed(load / n, 15 s)"', most="5").verdict is Verdict.PROVED


def test_many_values_are_not_listed_one_by_one() -> None:
    finding = asked(most="100000")
    assert finding.verdict is Verdict.UNDECIDED
    assert "more than 400 values of web.n" in finding.message


def test_a_signal_that_the_design_does_not_state_may_take_any_value() -> None:
    finding = asked(usage="other.signal")
    assert finding.verdict is Verdict.CONFLICT
    assert finding.assumptions == ("the signal may take any value (what the load makes of it is not restricted)",)
