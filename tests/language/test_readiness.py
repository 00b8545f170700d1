"""`web ready` is the end of the start that web states, where nothing else of the design says when it is ready."""

from __future__ import annotations

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding
from coherence.language.reading import read_text
from coherence.language.roles import SPELLINGS_OF_READY

DESIGN = """coherence: 1
components: {{web: {{copies: 2, takes: {takes}}}}}
timers:
  giveup: {{from: web starts, after: {after}, unless: {event}, then: restart web}}
"""
START, WARM = "{start: 30 s .. 2 min}", "{load: 30 s .. 1 min, warm_up: 10 s .. 1 min}"


def answers(text: str) -> list[Finding]:
    """Returns what is found, without repairs, but notes."""
    report = analyse(read_text(text, "d"), {"d": text}, lambda s: read_text(s["d"], "d"), verify_repairs=False)
    return [finding for finding in report.findings if str(finding.verdict) != "note"]


def verdicts(text: str) -> set[tuple[str, str]]:
    """Returns code and verdict of each finding but notes."""
    return {(finding.code, str(finding.verdict)) for finding in answers(text)}


@pytest.mark.parametrize("spelling", SPELLINGS_OF_READY)
@pytest.mark.parametrize("takes", [START, WARM])
@pytest.mark.parametrize(("after", "expected"), [("119 s", "conflict"), ("120 s", "conflict"), ("121 s", "proved")])
def test_a_member_is_ready_once_its_start_is_over(spelling: str, takes: str, after: str, expected: str) -> None:
    text = DESIGN.format(takes=takes, after=after, event=spelling.format("web"))
    assert verdicts(text) == {("COH207", expected)}


def test_it_answers_as_the_end_of_the_start_does() -> None:
    words = DESIGN.format(takes=START, after="1 min", event="web ready")
    spelled = DESIGN.format(takes=START, after="1 min", event="web.start ends")
    assert [f.message for f in answers(words)] == [f.message for f in answers(spelled)]


@pytest.mark.parametrize(
    "other",
    [
        "probe: {from: web.start ends, every: 10 s, then: list web}",
        "probe: {uses: readiness_probe, from: web.start ends, then: unlist web}",
        "slow: {from: web.start ends, after: 30 s .. 40 s, then: web ready}",
        "up: {uses: startup_probe, from: web starts, misses: 30, unless: web.start ends, then: restart web}",
    ],
)
def test_what_lists_it_or_brings_the_event_says_when_it_is_ready(other: str) -> None:
    text = DESIGN.format(takes=START, after="121 s", event="web ready") + f"  {other}\n"
    assert ("COH207", "proved") not in verdicts(text)


def test_what_is_listed_because_it_is_ready_says_nothing_of_when() -> None:
    text = (
        DESIGN.format(takes=START, after="121 s", event="web ready")
        + "  on: {from: web ready, after: 5 s, then: list web}"
    )
    assert ("COH207", "proved") in verdicts(text)


def test_a_thing_without_a_start_is_asked_about() -> None:
    assert verdicts(DESIGN.format(takes="{serve: 1 s}", after="1 min", event="web ready")) == {("COH207", "undecided")}


@pytest.mark.parametrize(("within", "expected"), [("119 s", "conflict"), ("2 min", "proved")])
def test_promises_speak_of_it_too(within: str, expected: str) -> None:
    text = (
        "coherence: 1\ncomponents: {web: {takes: {start: 30 s .. 2 min}}}\n"
        "timers: {begin: {from: node boots, after: 0 s, then: web.start starts}}\n"
        f"promises: {{up: after node boots then web ready within {within}}}\n"
    )
    assert verdicts(text) == {("COH243", expected)}
