"""The JSON shape that others build on."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given, settings

from coherence.findings.finding import Report
from coherence.reporting import render, versions
from coherence.reporting._words import anchored, ordered
from coherence.reporting.json_ import quantity
from tests.draws import few
from tests.reporting.conftest import conflict, long_witness, report_of, reports


def test_the_fields_of_a_report(full_report: Report) -> None:
    data = json.loads(render("json", full_report))
    assert set(data) == {
        "format_version", "tool", "versions", "seed", "inputs", "counts", "findings", "suppressed", "not_read",
        "assumptions", "skipped",
    }  # fmt: skip
    assert (data["format_version"], data["tool"], data["seed"]) == (3, "coherence", 7)
    assert data["versions"] == dict(versions())
    assert data["inputs"][0] == {"path": "specs/design.yaml", "sha256": "0" * 64}
    assert data["assumptions"] == ["clocks agree"]
    assert len(data["suppressed"]) == 1


def test_the_counts(full_report: Report) -> None:
    assert json.loads(render("json", full_report))["counts"] == {
        "designs": {"total": 1, "unanswered": 0, "cut_short": 0},
        "policies": {"total": 9, "loops": 5, "calls": 2, "timers": 1, "limits": 1},
        "promises": {"total": 3, "conflict": 1, "proved": 0, "undecided": 2, "vacuous": 0},
        "pairs": {"total": 36, "conflict": 1, "safe": 30, "undecided": 0, "not_modelled": 2, "unrelated": 3},
        "suppressed": 1,
        "verdicts": {"conflict": 4, "proved": 1, "undecided": 1, "vacuous": 1, "note": 0},
        "severities": {"error": 3, "warning": 2, "info": 2},
        "open_default_promises": [],
    }  # fmt: skip


def test_the_fields_of_a_finding() -> None:
    (one,) = json.loads(render("json", report_of(conflict())))["findings"]
    assert set(one) == {
        "code", "slug", "verdict", "certainty", "severity", "message", "places", "of", "evidence", "assumptions",
        "repairs", "fingerprint",
    }  # fmt: skip
    assert one["places"][0] == {
        "file": "specs/design.yaml", "line": 10, "column": 30, "end_line": 10, "end_column": 38, "label": "four tries",
    }  # fmt: skip
    assert one["evidence"]["numbers"]["span"] == {"exact": "86", "value": 86.0, "unit": "s"}
    assert one["evidence"]["numbers"]["load"] == {"exact": None, "value": 0.8125, "unit": "req/s"}
    assert one["evidence"]["witness"][1] == {"time": {"exact": "20", "value": 20.0, "unit": "s"}, "text": "try 1 ends"}
    assert one["repairs"][0]["edits"][0]["new"] == "90 s"
    assert one["fingerprint"] == conflict().fingerprint


def test_a_long_witness_is_whole() -> None:
    (one,) = json.loads(render("json", report_of(long_witness())))["findings"]
    witness = one["evidence"]["witness"]
    assert [step["text"] for step in witness] == [f"step {n}" for n in range(200)]
    assert witness[10]["time"] is None
    assert Fraction(witness[11]["time"]["exact"]) == Fraction(11, 4)


@pytest.mark.parametrize(
    ("value", "exact", "nearest"),
    [
        (Fraction(173, 2), "173/2", 86.5),
        (3, "3", 3.0),
        (0.1, None, 0.1),
        (math.inf, "inf", None),
        (-math.inf, "-inf", None),
        (math.nan, "nan", None),
        (Fraction(10) ** 400, str(10**400), None),
    ],
)
def test_quantities(value: Fraction | float, exact: str | None, nearest: float | None) -> None:
    assert quantity(value, "x") == {"exact": exact, "value": nearest, "unit": "x"}


def _keys(data: object) -> Iterator[list[str]]:
    if isinstance(data, dict):
        yield list(data)
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _keys(value)


def _refused(constant: str) -> float:
    raise AssertionError(constant)


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(reports())
def test_any_report_is_strict_ascii_json_with_sorted_keys(report: Report) -> None:
    text = render("json", report)
    assert text.isascii()
    assert text == render("json", report)
    data = json.loads(text, parse_constant=_refused)
    assert all(keys == sorted(keys) for keys in _keys(data))
    assert json.dumps(data, ensure_ascii=False).encode("utf-8")
    assert [one["fingerprint"] for one in data["findings"]] == [
        one.fingerprint for one in ordered(map(anchored, report.findings))
    ]


@settings(max_examples=few(25), deadline=None)
@given(reports())
def test_messages_come_back_unless_no_text_can_hold_them(report: Report) -> None:
    for finding, one in zip(
        ordered(map(anchored, report.findings)), json.loads(render("json", report))["findings"], strict=True
    ):
        if not any("\ud800" <= character <= "\udfff" for character in finding.message):
            assert one["message"] == finding.message
