"""Repairs of a removal that empties a pool: a floor at the end of the file, a cap, more members."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.verify.patterns.limits import removal_cascade

DESIGN = """coherence: 1
workload: {requests: {rate: 200 req/s}}
components: {pods: {copies: 4, load: requests.rate, rate_per_replica: 60 req/s}}
timers: {readiness: {from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}"""


def repaired(text: str) -> list[str]:
    """Returns the designs after each repair; one that is right is proved."""
    (finding,) = removal_cascade.ask(Subject(read_text(text, "d"), {"d": text}))
    changed = [apply(repair.edits, {"d": text}) for repair in finding.repairs]
    return [one["d"] for one in changed if one is not None]


@pytest.mark.parametrize("end", ["\n", "", "\n\n"])
def test_a_floor_is_a_section_of_its_own_at_the_end_of_the_file(end: str) -> None:
    """200 req/s need four of 60 each, so five are there and four stay."""
    (text,) = repaired(DESIGN + end)
    limits = "limits: {keep_pods: {counts: pods.ready, at_least: 4}}\n"
    assert text == DESIGN.replace("copies: 4", "copies: 5") + (end or "\n") + limits
    assert "keep_pods" in read_text(text, "d").limits


def test_where_enough_are_left_a_floor_alone_will_do() -> None:
    """170 req/s need three; two of four may fail together."""
    text = DESIGN.replace("200", "170").replace("60 req/s}", "60 req/s, failing: 0 .. 2}") + "\n"
    (changed,) = repaired(text)
    assert changed == text + "limits: {keep_pods: {counts: pods.ready, at_least: 3}}\n"


def test_a_design_with_limits_gets_no_second_section() -> None:
    text = DESIGN + "\nlimits: {far: {counts: other.things, at_most: 9}}\n"
    assert not any("keep_pods" in changed for changed in repaired(text))
