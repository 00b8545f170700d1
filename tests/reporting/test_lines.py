"""The two formats of one line a finding: concise, and GitHub's workflow commands."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

from coherence.base.outside_text import visible
from coherence.findings.finding import Finding, Report, Severity, Verdict
from coherence.reporting import render
from coherence.reporting._not_read import listed_only
from coherence.reporting._words import anchored, ordered, sentence
from tests.draws import few
from tests.reporting.conftest import conflict, everything, placeless, proof, report_of, reports, undecided

COMMAND = re.compile(r"::(error|warning|notice) ([a-z]+=[^,:\r\n]*(?:,[a-z]+=[^,:\r\n]*)*)::([^\r\n]*)")


def decoded(text: str) -> str:
    """What the runner reads: the escapes of workflow commands undone."""
    for escape, character in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    matches = [COMMAND.fullmatch(line) for line in text.split("\n")[:-1]]
    assert all(matches)
    parts = [(m[1], dict(p.split("=", 1) for p in m[2].split(",")), m[3]) for m in matches if m]
    return [(level, {k: decoded(v) for k, v in properties.items()}, decoded(body)) for level, properties, body in parts]


def test_concise_lines() -> None:
    assert (
        render("concise", everything())
        == """\
specs/design.yaml:5:7: error COH205 it never settles
specs/design.yaml:6:16: info COH203 proved: retries end before the drain does
specs/design.yaml:10:6: warning COH299 everything overlaps
specs/design.yaml:10:30: error COH203 client retries outlive the server's drain
specs/pool.yaml:2:8: error COH210 undecided: the pool may empty before a try ends
-: info COH601 42 % of it is lost
<built-in>: warning COH199 vacuous: nothing can happen
-: not read: 1 setting (outside the model; listed only)
"""
    )


def test_a_command_with_its_second_place_and_evidence() -> None:
    text = render("github", report_of(conflict()))
    head = "::error col=30,file=specs/design.yaml,line=10,title=COH203 retry-outlives-drain::client retries outlive"
    assert text.startswith(head)
    ((_, _, body), (_, rest, _)) = commands(text)
    assert rest == {"title": "not read"}
    assert "\nspecs/design.yaml:8:11 node is reclaimed after 60 s\n" in body
    assert "\nconflict (certain): linear arithmetic, z3; witness replayed step by step\n" in body


@pytest.mark.parametrize(
    ("finding", "level"),
    [
        (conflict(), "error"),
        (proof(), "notice"),
        (undecided(), "warning"),
        (placeless(), "notice"),
        (replace(conflict(), severity=Severity.WARNING), "warning"),
        (replace(conflict(), verdict=Verdict.VACUOUS), "error"),
    ],
)
def test_levels(finding: Finding, level: str) -> None:
    assert commands(render("github", report_of(finding)))[0][0] == level


def test_a_finding_without_a_place_annotates_no_file() -> None:
    (_, properties, body), *_ = commands(render("github", report_of(placeless())))
    assert properties == {"title": "COH601 costly"}
    assert body.startswith("42 % of it is lost\n")


def test_escapes() -> None:
    message, slug = "100 %\n::error::x", "a,b:c%2C"
    text = render("github", report_of(replace(placeless(), message=message, slug=slug)))
    assert text.startswith("::notice title=COH601 a%2Cb%3Ac%252C::100 %25 ::error::x%0A")


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(reports())
def test_any_report_has_one_command_a_finding(report: Report) -> None:
    found = commands(render("github", report))
    findings = ordered(map(anchored, report.findings))
    for (_, properties, body), finding in zip(found[: len(findings)], findings, strict=True):
        assert body.split("\n")[0] == sentence(finding)
        assert properties["title"] == f"{visible(finding.code)} {visible(finding.slug)}"
        assert set(properties) in ({"title"}, {"title", "file", "line", "col"})
    others = len(list(listed_only(report.not_read))) + bool(report.accounting.unanswered)
    assert len(found) == len(findings) + sum(line.counts for line in report.not_read) + others


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(reports())
def test_any_report_has_one_concise_line_a_finding(report: Report) -> None:
    text = render("concise", report)
    count = len(report.findings) + sum(line.counts for line in report.not_read)
    count += len(list(listed_only(report.not_read))) + bool(report.accounting.unanswered)
    assert text.count("\n") == count == len(text.splitlines())
    assert text.encode("utf-8").decode() == text
