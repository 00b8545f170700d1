"""Renders JUnit XML: each finding is a test case; problems fail, proofs and notes pass, the rest is skipped.

What is undecided or suppressed is the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coherence.base.outside_text import visible
from coherence.findings.finding import Finding, Report, Severity, Verdict
from coherence.reporting._not_read import grouped
from coherence.reporting._options import ReportOptions
from coherence.reporting._paint import paint
from coherence.reporting._versions import versions
from coherence.reporting._words import accounting, in_file, is_proof, line_of, one_line, ordered, primary, sentence
from coherence.reporting.text import block, repairs

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def render(report: Report, *, options: ReportOptions) -> str:
    """Returns a `testsuites` document with one suite; a report without findings has one case that passes."""
    cases = [_case(finding, report, options) for finding in ordered(report.findings)]
    cases += [_suppressed(finding) for finding in ordered(report.suppressed)]
    cases = cases or [_element("testcase", {"classname": "coherence", "name": accounting(report)})]
    _number(cases)
    tags = Counter(child.tag for case in cases for child in case)
    counts = {"tests": len(cases), "failures": tags["failure"], "errors": 0, "skipped": tags["skipped"]}
    totals = {"name": "coherence"} | {name: str(count) for name, count in counts.items()}
    suite = _element("testsuite", totals, [_properties(report), *cases])
    return _document(_element("testsuites", totals, [suite]))


def _element(tag: str, attributes: Mapping[str, str], children: Sequence[Element] = (), text: str = "") -> Element:
    from xml.etree.ElementTree import Element

    element = Element(tag, dict(attributes))
    element.extend(children)
    element.text = text or None
    return element


def _document(root: Element) -> str:
    from xml.etree import ElementTree as ET

    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _properties(report: Report) -> Element:
    listed = {"accounting": accounting(report), "seed": str(report.seed)}
    listed |= {f"not read {number}": one_line(text) for number, text in enumerate(grouped(report.not_read), 1)}
    listed |= {f"version {name}": version for name, version in versions().items()}
    return _element("properties", {}, [_element("property", {"name": k, "value": v}) for k, v in listed.items()])


def _testcase(finding: Finding) -> Element:
    """Returns the case of a finding, named by code and parts and not by line: a moved line is the same test."""
    place = primary(finding)
    parts = ", ".join(one_line(part) for part in finding.of)
    name = f"{visible(finding.code)} {visible(finding.slug)}" + (f": {parts}" if parts else "")
    case = _element("testcase", {"classname": visible(place.file) if place else "coherence", "name": name})
    if place and in_file(place):
        case.attrib |= {"file": visible(place.file), "line": str(line_of(place))}
    return case


def _case(finding: Finding, report: Report, options: ReportOptions) -> Element:
    case = _testcase(finding)
    lines = [*block(finding, report, options), *repairs(finding, report)]
    detail = "\n".join(paint(line, colour=False) for line in lines)
    if finding.verdict is Verdict.UNDECIDED:
        case.append(_element("skipped", {"message": sentence(finding)}, text=detail))
    elif is_proof(finding) or finding.severity is Severity.INFO:
        case.append(_element("system-out", {}, text=detail))
    else:
        attributes = {"message": sentence(finding), "type": str(finding.severity)}
        case.append(_element("failure", attributes, text=detail))
    return case


def _suppressed(finding: Finding) -> Element:
    case = _testcase(finding)
    case.append(_element("skipped", {"message": f"suppressed: {sentence(finding)}"}))
    return case


def _number(cases: list[Element]) -> None:
    """Readers tell cases apart by class and name: make each pair unique."""
    taken: set[tuple[str, str]] = set()
    for case in cases:
        kind, name, number = case.attrib["classname"], case.attrib["name"], 1
        while (kind, case.attrib["name"]) in taken:
            number += 1
            case.attrib["name"] = f"{name} ({number})"
        taken.add((kind, case.attrib["name"]))
