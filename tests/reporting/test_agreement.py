"""All formats show the same findings: the set of (code, file, line) is read back from each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.places import NOWHERE, Place
from coherence.findings.finding import Finding, Report
from coherence.reporting import formats, render
from tests.draws import few
from tests.reporting.conftest import FILES, conflict, everything, long_witness, overlapping, proof, report_of, undecided

Shown = tuple[str, str | None, int | None]
WHERE = r"(?P<file>[^:\n]+):(?P<line>\d+):\d+"


def _key(code: str, file: str | None, line: str | int | None) -> Shown:
    return (code, file, int(line or 0)) if file and not file.startswith("<") else (code, None, None)


def _lines(pattern: str, text: str) -> list[Shown]:
    found = re.finditer(pattern, text, re.MULTILINE)
    return [_key(match["code"], match["file"], match["line"]) for match in found]


def from_text(text: str) -> list[Shown]:
    full = rf"^\w+\[(?P<code>\w+)\]: .*(\n *--> (?:{WHERE}|<built-in>))?"
    brief = rf"^(?:{WHERE}|<built-in>): (?!suppressed)\w+\[(?P<code>\w+)\]"
    return _lines(full, text) + _lines(brief, text)


def from_concise(text: str) -> list[Shown]:
    return _lines(rf"^(?:{WHERE}|-|<built-in>): (?:error|warning|info) (?P<code>\w+) ", text)


def from_github(text: str) -> list[Shown]:
    lines = [
        dict(part.split("=", 1) for part in line.split("::")[1].split(" ", 1)[1].split(","))
        for line in text.splitlines()
    ]
    shown = [line for line in lines if line["title"] not in ("not read", "not checked")]
    return [_key(line["title"].split()[0], line.get("file"), line.get("line")) for line in shown]


def from_json(text: str) -> list[Shown]:
    places = [(one["code"], *one["places"][:1]) for one in json.loads(text)["findings"]]
    return [_key(code, place[0]["file"], place[0]["line"]) if place else (code, None, None) for code, *place in places]


def from_junit(text: str) -> list[Shown]:
    root = ET.fromstring(text)  # noqa: S314  (our own output)
    cases = [case for case in root.iter("testcase") if not _suppressed(case)]
    cases = [case for case in cases if not case.attrib["name"].startswith("Checked ")]  # stands for no findings
    return [_key(case.attrib["name"].split()[0], case.get("file"), case.get("line")) for case in cases]


def _suppressed(case: ET.Element) -> bool:
    skipped = case.find("skipped")
    return skipped is not None and skipped.attrib["message"].startswith("suppressed: ")


def from_markdown(text: str) -> list[Shown]:
    return _lines(rf"^\| \w+ \| `(?P<code>\w+)` \| (?:`(?:{WHERE}|<built-in>)`)? \|", text)


def from_sarif(text: str) -> list[Shown]:
    return list(_results(json.loads(text)["runs"][0]["results"]))


def _results(results: list[dict[str, object]]) -> Iterator[Shown]:
    for result in results:
        if "suppressions" not in result:
            physical = result["locations"][0]["physicalLocation"]  # type: ignore[index]
            region = physical.get("region")
            file = unquote(physical["artifactLocation"]["uri"]) if region else None
            yield _key(str(result["ruleId"]), file, region and region["startLine"])


READERS: dict[str, Callable[[str], list[Shown]]] = {
    "text": from_text,
    "concise": from_concise,
    "github": from_github,
    "json": from_json,
    "junit": from_junit,
    "markdown": from_markdown,
    "sarif": from_sarif,
}


def expected(report: Report) -> list[Shown]:
    pairs = [(one.code, next((p for p in one.places if p.file != NOWHERE.file), NOWHERE)) for one in report.findings]
    return sorted((_key(code, place.file, place.line) for code, place in pairs), key=str)


def test_every_format_has_a_reader() -> None:
    assert set(READERS) == set(formats())


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("verbose", [False, True])
def test_one_of_each(name: str, verbose: bool) -> None:
    report = everything()
    assert sorted(READERS[name](render(name, report, verbose=verbose)), key=str) == expected(report)


def _moved(finding: Finding, code: str, file: str, line: int) -> Finding:
    place = Place(file, line, 3, line, 7, "moved")
    return replace(finding, code=code, places=(place, *finding.places[1:]))


MOVED = st.builds(
    _moved,
    st.sampled_from([conflict(), proof(), undecided(), overlapping(), long_witness()]),
    st.sampled_from(["COH101", "COH203", "COH310"]),
    st.sampled_from([*FILES, "not/read.yaml", "<built-in>"]),
    st.integers(1, 30),
)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=few(30), deadline=None)
@given(findings=st.lists(MOVED, max_size=5))
def test_any_findings(name: str, findings: list[Finding]) -> None:
    report = report_of(*findings)
    assert sorted(READERS[name](render(name, report)), key=str) == expected(report)
