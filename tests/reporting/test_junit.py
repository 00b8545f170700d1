"""JUnit XML, read back by the standard library and by junitparser."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from junitparser import Failure, JUnitXml, Skipped

from coherence.findings.finding import Report, Severity, Verdict
from coherence.reporting import render
from tests.draws import few
from tests.reporting.conftest import conflict, everything, placeless, proof, report_of, reports, undecided


def cases(report: Report) -> list[ET.Element]:
    return list(ET.fromstring(render("junit", report)).iter("testcase"))  # noqa: S314  (our own output)


def outcome(case: ET.Element) -> str:
    tags = [child.tag for child in case if child.tag != "system-out"]
    return tags[0] if tags else "passed"


def test_problems_fail_proofs_pass_and_the_undecided_are_skipped() -> None:
    found = {case.attrib["name"].split()[0]: outcome(case) for case in cases(everything())}
    assert found == {
        "COH199": "failure", "COH203": "failure", "COH204": "skipped", "COH205": "failure", "COH210": "skipped",
        "COH299": "failure", "COH601": "passed",
    }  # fmt: skip
    assert outcome(cases(report_of(proof()))[0]) == "passed"


def test_a_case_has_a_name_without_a_line_and_the_text_of_the_finding() -> None:
    (case,) = cases(report_of(conflict()))
    assert case.attrib == {
        "classname": "specs/design.yaml", "name": "COH203 retry-outlives-drain: app, drain",
        "file": "specs/design.yaml", "line": "10",
    }  # fmt: skip
    failure = case.find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "client retries outlive the server's drain", "type": "error"}
    assert "^^^^^^^^  ------------- up to 86 s of re-sending" in (failure.text or "")
    assert "+ node: 90 s" in (failure.text or "")


def test_equal_names_are_numbered() -> None:
    names = [case.attrib["name"] for case in cases(report_of(placeless(), placeless(), placeless()))]
    assert names == ["COH601 costly: all", "COH601 costly: all (2)", "COH601 costly: all (3)"]


def test_a_clean_report_has_one_case_that_passes() -> None:
    (case,) = cases(report_of())
    assert outcome(case) == "passed"
    assert case.attrib["name"].startswith("Checked 5 loops, 2 calls")


def test_an_undecided_error_does_not_fail() -> None:
    assert outcome(cases(report_of(replace(undecided(), severity=Severity.ERROR)))[0]) == "skipped"
    assert outcome(cases(report_of(replace(undecided(), verdict=Verdict.VACUOUS)))[0]) == "failure"


def test_junitparser_reads_the_same_counts() -> None:
    (suite,) = list(JUnitXml.fromstring(render("junit", everything()).encode()))
    results = [case.result[0] if case.result else None for case in suite]
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (8, 4, 2, 0)
    assert sum(isinstance(result, Failure) for result in results) == 4
    assert sum(isinstance(result, Skipped) for result in results) == 2
    assert {one.name: one.value for one in suite.properties()}["seed"] == "7"


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(reports())
def test_any_report_is_well_formed_and_counted(report: Report) -> None:
    text = render("junit", report)
    root = ET.fromstring(text.encode("utf-8"))  # noqa: S314  (our own output)
    found = list(root.iter("testcase"))
    assert len(found) == max(1, len(report.findings) + len(report.suppressed)) == int(root.attrib["tests"])
    assert len({(case.attrib["classname"], case.attrib["name"]) for case in found}) == len(found)
    tags = {"testsuites", "testsuite", "properties", "property", "testcase", "failure", "skipped", "system-out"}
    assert {element.tag for element in root.iter()} <= tags
    assert next(iter(JUnitXml.fromstring(text.encode("utf-8")))).tests == len(found)


def test_an_undecided_answer_is_skipped_and_a_note_passes_whatever_its_weight() -> None:
    unclear = replace(undecided(), severity=Severity.INFO)
    note = replace(undecided(), severity=Severity.INFO, verdict=Verdict.NOTE)
    assert [outcome(case) for case in cases(report_of(unclear, note))] == ["skipped", "passed"]
    assert outcome(cases(report_of(replace(note, severity=Severity.WARNING)))[0]) == "failure"
