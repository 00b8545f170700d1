"""The design against telemetry: how many statements were tested, and every finding as data."""

from __future__ import annotations

import pytest

from coherence.causal.sections import findings
from coherence.findings.finding import Finding
from tests.causal.sections.contexts import CHAIN, chain, context, lines


def test_a_chain_states_two_independences_and_both_hold() -> None:
    """By hand: reads and the step time, given the wait, both ways through the present and the past."""
    section = findings.answer(context(CHAIN, chain()))
    assert section is not None
    assert lines(section)[0] == "2 statements of independence tested: 2 hold"
    assert lines(section)[1].endswith("where nothing can act: 0 found")
    assert (section.data["tested"], section.data["hold"], section.data["placebo"]) == (2, 2, 0)
    assert section.findings == ()


def test_a_coupling_that_nobody_declared_breaks_a_statement_and_is_a_finding() -> None:
    signals = chain()
    signals["trainer.step_time"] = signals["trainer.step_time"] + 2 * signals["disk.reads"]
    section = findings.answer(context(CHAIN, signals))
    assert section is not None
    assert section.data["hold"] < section.data["tested"]
    (finding,) = section.findings
    assert (finding.code, finding.of[:2]) == ("COH401", ("disk.reads", "trainer.step_time"))


def test_a_finding_is_told_as_data_with_its_places_and_numbers() -> None:
    signals = chain()
    signals["trainer.step_time"] = signals["trainer.step_time"] + 2 * signals["disk.reads"]
    section = findings.answer(context(CHAIN, signals))
    assert section is not None
    (data,), (finding,) = section.data["findings"], section.findings
    assert data["code"] == finding.code
    assert data["message"] == finding.message
    assert data["verdict"] == str(finding.verdict)
    assert [place["line"] for place in data["places"]] == [place.line for place in finding.places]
    assert_numbers(data["numbers"], finding)


def assert_numbers(numbers: dict[str, dict[str, object]], finding: Finding) -> None:
    assert list(numbers) == list(finding.evidence.numbers)
    assert numbers["strength"]["value"] == pytest.approx(2, abs=0.3)


def test_where_nothing_can_be_tested_the_reason_is_told() -> None:
    alone = {"disk.reads": chain()["disk.reads"]}
    assert lines(findings.answer(context(CHAIN, alone))) == [
        "statements of independence: the design states none that can be tested"
    ]
    streamed = context(CHAIN, chain())
    whole = streamed.whole
    streamed.chunks = lambda: [whole]
    assert lines(findings.answer(streamed)) == [
        "statements of independence: not tested on streamed telemetry",
        "delays and lines of the influences: not tested on streamed telemetry",
    ]


def test_the_terms_that_were_laid_beside_the_influences_are_counted() -> None:
    """By hand: for each of two influences 6 further delays, a square and 4 hinges."""
    section = findings.answer(context(CHAIN, chain()))
    assert section is not None
    assert section.data["form"] == {"tests": 22, "not_tested": []}
    assert lines(section)[2] == "22 other terms (delays, bends, products) laid beside the influences: none is lacking"


def test_chance_breaks_no_statement_in_many_records() -> None:
    broken = 0
    for seed in range(10):
        section = findings.answer(context(CHAIN, chain(300, seed)))
        assert section is not None
        broken += section.data["tested"] - section.data["hold"]
    assert broken == 0
