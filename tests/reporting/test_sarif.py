"""SARIF: valid against the official schema, and true to what the standard says the fields mean."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.places import NOWHERE, Place
from coherence.findings.finding import Edit, Evidence, Grade, InputFile, Repair, Report, Severity, Verdict
from coherence.reporting import render
from tests.draws import few
from tests.paths import DATA
from tests.reporting.conftest import (
    DESIGN,
    RULES,
    conflict,
    everything,
    placeless,
    proof,
    report_of,
    reports,
    span,
    undecided,
)

SCHEMA = DATA / "sarif-2.1.0.json"


@functools.cache
def validator() -> Any:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema)


def log(report: Report, **options: object) -> dict[str, Any]:
    data = json.loads(render("sarif", report, **options))
    validator().validate(data)
    assert isinstance(data, dict)
    return data


def run(report: Report, **options: object) -> Any:
    return log(report, **options)["runs"][0]


def test_the_schema_refuses_what_is_no_sarif() -> None:
    wrong = log(everything())
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(wrong)


def test_both_places_are_locations() -> None:
    (result,) = run(report_of(conflict()))["results"]
    (location,) = result["locations"]
    region = {"startLine": 10, "startColumn": 30, "endLine": 10, "endColumn": 38}
    artifact = {"uri": "specs/design.yaml", "uriBaseId": "%SRCROOT%"}
    assert location["physicalLocation"] == {"artifactLocation": artifact, "region": region}
    assert [one["id"] for one in result["relatedLocations"]] == [1, 2]
    assert result["relatedLocations"][1]["message"]["text"] == "node is reclaimed after 60 s"
    assert result["partialFingerprints"] == {"coherence/v1": conflict().fingerprint}


@pytest.mark.parametrize(
    ("verdict", "severity", "kind", "level"),
    [
        (Verdict.CONFLICT, Severity.ERROR, "fail", "error"),
        (Verdict.CONFLICT, Severity.WARNING, "fail", "warning"),
        (Verdict.CONFLICT, Severity.INFO, "fail", "note"),
        (Verdict.UNDECIDED, Severity.ERROR, "fail", "warning"),
        (Verdict.UNDECIDED, Severity.INFO, "fail", "note"),
        (Verdict.VACUOUS, Severity.WARNING, "fail", "warning"),
        (Verdict.PROVED, Severity.INFO, "pass", "none"),
        (Verdict.NOTE, Severity.INFO, "informational", "none"),
        (Verdict.NOTE, Severity.WARNING, "fail", "warning"),
    ],
)
def test_kind_and_level(verdict: Verdict, severity: Severity, kind: str, level: str) -> None:
    (result,) = run(report_of(replace(conflict(), verdict=verdict, severity=severity)))["results"]
    assert (result["kind"], result["level"]) == (kind, level)


def test_a_bounded_result_does_not_pass() -> None:
    (result,) = run(report_of(replace(proof(), evidence=Evidence(Grade.BOUNDED, "search"))))["results"]
    assert (result["kind"], result["level"]) == ("fail", "note")


def test_suppressed_findings_are_marked() -> None:
    results = run(everything())["results"]
    assert [one["ruleId"] for one in results if "suppressions" in one] == ["COH204"]
    assert len(results) == 8


def test_rules_are_described_where_known_and_indexed() -> None:
    whole = run(everything(), rules=RULES)
    rules = whole["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({one["ruleId"] for one in whole["results"]})
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in whole["results"])
    (known,) = (rule for rule in rules if rule["id"] == "COH203")
    assert known["shortDescription"] == {"text": "Retries must end before the drain"}
    assert known["help"]["markdown"] == "## What\nA `retry`."


def test_the_evidence_holds_exact_figures_and_each_step_of_the_witness() -> None:
    (result,) = run(report_of(conflict()))["results"]
    evidence = result["properties"]["evidence"]
    assert evidence["numbers"] == {
        "span": {"exact": "86", "unit": "s", "value": 86.0},
        "drain": {"exact": "60", "unit": "s", "value": 60.0},
        "load": {"exact": None, "unit": "req/s", "value": 0.8125},
    }
    assert [(step["time"]["exact"], step["text"]) for step in evidence["witness"]] == [
        ("0", "drain"), ("20", "try 1 ends"), ("22", "try 2"), ("60", "node gone"), ("66", "try 4"),
    ]  # fmt: skip


def test_a_finding_about_no_place_stands_at_the_first_input() -> None:
    (result,) = run(report_of(placeless()))["results"]
    (location,) = result["locations"]
    assert location == {
        "physicalLocation": {"artifactLocation": {"uri": "specs/design.yaml", "uriBaseId": "%SRCROOT%"}}
    }
    (bare,) = run(replace(report_of(placeless()), inputs=()))["results"]
    assert "locations" not in bare


def test_what_is_not_read_is_a_notification() -> None:
    (invocation,) = run(report_of())["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "not read: a name has no meaning here (outside the model)"
    assert notification["locations"][0]["physicalLocation"]["region"]["startLine"] == 3


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/ü.yaml", {"uri": "a%20b/%C3%BC.yaml", "uriBaseId": "%SRCROOT%"}),
        ("odd:name#1?.yaml", {"uri": "odd%3Aname%231%3F.yaml", "uriBaseId": "%SRCROOT%"}),
        ("/etc/x y.yaml", {"uri": "file:///etc/x%20y.yaml"}),
        ("C:\\a\\b c.yaml", {"uri": "file:///C:/a/b%20c.yaml"}),
        ("raw\udcff.yaml", {"uri": "raw%FF.yaml", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_paths_are_uri_references(path: str, uri: dict[str, str]) -> None:
    whole = run(replace(report_of(), inputs=(InputFile(path, "0"),)))
    assert whole["artifacts"][0]["location"] == uri


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("see [this](https://evil.example)", "see \\[this\\](https://evil.example)"),
        ("tries[0] of {n}", "tries[0] of {n}"),
        ("two\nlines", "two lines"),
    ],
)
def test_messages_hold_no_links(message: str, text: str) -> None:
    (result,) = run(report_of(replace(conflict(), message=message)))["results"]
    assert result["message"] == {"text": text}


def test_a_repair_outside_all_files_is_no_fix() -> None:
    one = replace(
        conflict(), repairs=(Repair((Edit(NOWHERE, "a", "b"),), "x", proved=True), Repair((), "y", proved=True))
    )
    assert "fixes" not in run(report_of(one))["results"][0]


def test_edits_of_two_files_are_one_fix() -> None:
    edits = (
        Edit(span("specs/pool.yaml", 2, "30 s"), "30 s", "9 s"),
        Edit(span("specs/design.yaml", 8, "60 s"), "60 s", "9 s"),
    )
    (fix,) = run(report_of(replace(undecided(), repairs=(Repair(edits, "checked", proved=True),))))["results"][0][
        "fixes"
    ]
    assert [change["artifactLocation"]["uri"] for change in fix["artifactChanges"]] == [
        "specs/design.yaml", "specs/pool.yaml",
    ]  # fmt: skip
    assert fix["description"] == {"text": "checked"}


@settings(max_examples=few(60), deadline=None)
@given(st.integers(0, len(DESIGN)), st.integers(0, 60), st.text(max_size=9))
def test_a_replacement_names_exactly_the_text_it_replaces(start: int, length: int, new: str) -> None:
    old = DESIGN[start : start + length]
    line, column = DESIGN.count("\n", 0, start) + 1, start - DESIGN.rfind("\n", 0, start)
    edit = Edit(Place("specs/design.yaml", line, column, line, column), old, new)
    (result,) = run(report_of(replace(conflict(), repairs=(Repair((edit,), "", proved=True),))))["results"]
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert _replaced(DESIGN, replacement) == DESIGN[:start] + new + DESIGN[start + len(old) :]


def _replaced(text: str, replacement: dict[str, Any]) -> str:
    """What an editor does: columns count code points from 1, the end is exclusive (3.30)."""
    starts = [0, *(i + 1 for i, character in enumerate(text) if character == "\n")]
    region = replacement["deletedRegion"]
    begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
    end = starts[region["endLine"] - 1] + region["endColumn"] - 1
    return text[:begin] + str(replacement["insertedContent"]["text"]) + text[end:]


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(reports())
def test_any_report_is_valid(report: Report) -> None:
    whole = run(report, rules=RULES)
    assert len(whole["results"]) == len(report.findings) + len(report.suppressed)
    for result in whole["results"]:
        for location in (*result.get("locations", ()), *result.get("relatedLocations", ())):
            region = location["physicalLocation"].get("region")
            assert not region or (region["startLine"], region["startColumn"]) <= (
                region["endLine"],
                region["endColumn"],
            )
            assert location["physicalLocation"]["artifactLocation"]["uri"].isascii()
