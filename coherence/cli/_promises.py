"""Renders what runs say of the promises of a design: text, JUnit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherence.simulate.study.repeated_runs import JudgedPromise, Study

WORDS = {"broken": "broken", "held": "held", "undecided": "not decided"}


def is_broken(studies: Sequence[Study]) -> bool:
    """Decides whether some run of some design broke a promise."""
    return any(promise.verdict == "broken" for study in studies for promise in study.promises)


def is_open(studies: Sequence[Study]) -> bool:
    """Decides whether the runs could not tell of some promise."""
    return any(promise.verdict == "undecided" for study in studies for promise in study.promises)


def promise_lines(names: Sequence[str], studies: Sequence[Study]) -> Iterator[str]:
    """Yields a block of lines for the promises of each design that has any."""
    for name, study in zip(names, studies, strict=True):
        if study.promises:
            yield from ("", f"Promises of {name}:" if len(studies) > 1 else "Promises:")
            width = max(len(promise.promise.name) for promise in study.promises)
            yield from (f"  {_line(promise, width)}" for promise in study.promises)


def _line(promise: JudgedPromise, width: int) -> str:
    verdict = WORDS[promise.verdict]
    return f"{promise.promise.name:<{width}}  {verdict:<11}  {promise.promise.text}: {promise.message}"


def promises_junit(names: Sequence[str], studies: Sequence[Study]) -> str:
    """Returns a `testsuites` document: each promise is a case, a broken one fails, an undecided one is skipped."""
    from xml.etree import ElementTree as ET

    suites = [_suite(name, study) for name, study in zip(names, studies, strict=True)]
    root = ET.Element("testsuites", {"name": "coherence simulate"})
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(name: str, study: Study) -> Any:
    from xml.etree import ElementTree as ET

    from coherence.base.outside_text import visible

    tags: Mapping[str, int] = {word: sum(p.verdict == word for p in study.promises) for word in WORDS}
    suite = ET.Element("testsuite", {
        "name": visible(name), "tests": str(len(study.promises)), "failures": str(tags["broken"]), "errors": "0",
        "skipped": str(tags["undecided"]),
    })  # fmt: skip
    for promise in study.promises:
        place = promise.promise.place
        case = ET.SubElement(suite, "testcase", {
            "classname": visible(place.file), "name": visible(promise.promise.name), "file": visible(place.file),
            "line": str(place.line),
        })  # fmt: skip
        text = visible(f"{promise.promise.text}: {promise.message}")
        if promise.verdict != "held":
            ET.SubElement(case, "failure" if promise.verdict == "broken" else "skipped", {"message": text})
    return suite
