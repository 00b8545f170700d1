"""What a proof that a thing serves its load takes for granted."""

from __future__ import annotations

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language.reading import read_text

TEXT = """coherence: 1
workload: {users: {rate: 50 req/s, service: {mean: 100 ms, cv: 1}}}
components: {s: {copies: 10%s}}
%scalls: [{from: users, to: s}]
"""
PLACES = "places: {node: {count: 7, cpu: 4}}\n"


@pytest.mark.parametrize(
    ("needs", "more", "assumed"),
    [
        ("", "", ()),
        (", needs: 4 cpu", PLACES, ("each of s finds a place",)),
        ("", "places: {node: {count: 7}}\nplacement: {s: [spread by node <= 1]}\n", ("each of s finds a place",)),
    ],
)
def test_members_are_taken_to_find_their_places(needs: str, more: str, assumed: tuple[str, ...]) -> None:
    text = TEXT % (needs, more)
    read = lambda sources: read_text(sources["d.yaml"], "d.yaml")  # noqa: E731
    findings = analyse(read_text(text, "d.yaml"), {"d.yaml": text}, read, select=("COH245",)).findings
    (proof,) = (finding for finding in findings if finding.verdict is Verdict.PROVED)
    assert proof.assumptions == assumed
