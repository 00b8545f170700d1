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
    findings = analyse(
        read_text(text, "d.yaml"), {"d.yaml": text}, read, select=("COH245",), verify_repairs=False
    ).findings
    (proof,) = (finding for finding in findings if finding.verdict is Verdict.PROVED)
    assert proof.assumptions == assumed


TAKEN = """coherence: 1
workload: {users: {rate: 120 req/s}}
components: {web: {copies: 3, rate_per_copy: 50 req/s}}
calls: [{from: users, to: web}]
"""
SETS = "loops: {service: {%s actuation: {signal: web.%s, law: set, to: %d}}}\n"
STOPS = "timers: {service: {from: %s, after: 5 s, then: drain web}}\n"


@pytest.mark.parametrize(
    ("taking", "verdict", "assumed"),
    [
        (SETS % ("trigger: web.errors > 5 %,", "ejected", 2), Verdict.PROVED, ("service takes none of web out",)),
        (SETS % ("trigger: web.errors > 5 %,", "disrupted", 2), Verdict.PROVED, ("service takes none of web out",)),
        (SETS % ("", "ejected", 2), Verdict.UNDECIDED, ()),
        (SETS % ("", "healthy", 1), Verdict.UNDECIDED, ()),
        (SETS % ("", "ejected", 0), Verdict.PROVED, ()),
        (
            STOPS % "night", Verdict.PROVED,
            ("none of web fails", "timers.service is not read; nothing is taken out by it"),
        ),
    ],
)  # fmt: skip
def test_loops_and_timers_that_take_members_out_are_named_or_leave_no_proof(
    taking: str, verdict: Verdict, assumed: tuple[str, ...]
) -> None:
    text = TAKEN + taking
    read = lambda sources: read_text(sources["d.yaml"], "d.yaml")  # noqa: E731
    (finding,) = analyse(
        read_text(text, "d.yaml"), {"d.yaml": text}, read, select=("COH245",), verify_repairs=False
    ).findings
    assert (finding.verdict, finding.assumptions) == (verdict, assumed)


@pytest.mark.parametrize(
    ("signal", "to", "verdict"),
    [
        ("users.rate", "500 req/s", Verdict.UNDECIDED),
        ("web.rate_per_copy", "5 req/s", Verdict.UNDECIDED),
        ("users.service", "5 s", Verdict.UNDECIDED),
        ("other.rate", "500 req/s", Verdict.PROVED),
        ("web.temperature", "5", Verdict.PROVED),
    ],
)
def test_what_a_loop_sets_is_not_as_it_is_stated(signal: str, to: str, verdict: Verdict) -> None:
    actuation = f"{{signal: {signal}, law: set, to: {to}}}"
    text = f"{TAKEN}loops: {{turns: {{timescale: {{period: 10 s}}, actuation: {actuation}}}}}\n"
    read = lambda sources: read_text(sources["d.yaml"], "d.yaml")  # noqa: E731
    (finding,) = analyse(
        read_text(text, "d.yaml"), {"d.yaml": text}, read, select=("COH245",), verify_repairs=False
    ).findings
    assert finding.verdict is verdict
