"""Migration beside a plain run of the loop in both environments."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.environments.overlay import read_in_environment
from coherence.loops.checks.infrastructure.migration import ask
from tests.loops.checks.infrastructure.test_control_distortion import TEXT, rests

PERIOD = 15


def answers(before: int, after: int) -> list[Finding]:
    """Returns the answers in the second of two environments, with these delays."""
    text = TEXT.format(between=f"added_delay: {before} s", period=PERIOD, kind="environment")
    text += "environments:\n  here: {}\n  there: "
    text += f"{{infrastructure: {{boundaries: {{vms: {{added_delay: {after} s}}}}}}}}\n"
    return list(ask(Subject(read_in_environment(text, "d", "there"), {"d": text})))


@pytest.mark.parametrize(("before", "after"), [(0, 14), (0, 31), (15, 31), (16, 14), (16, 31)])
def test_the_verdict_is_that_of_plain_runs(before: int, after: int) -> None:
    settles = rests(before, PERIOD), rests(after, PERIOD)
    found = [finding.verdict for finding in answers(before, after)]
    assert found == {(True, True): [Verdict.PROVED], (True, False): [Verdict.CONFLICT]}.get(settles, [])


def test_both_delays_are_told() -> None:
    (finding,) = answers(0, 16)
    assert finding.evidence.numbers["delay"] == (16, "s")
    assert finding.evidence.numbers["delay in here"] == (0, "s")
    assert "by the infrastructure alone (vms.added_delay is 16 s)" in finding.message


def test_one_environment_alone_is_no_migration() -> None:
    text = TEXT.format(between="added_delay: 16 s", period=PERIOD, kind="environment")
    assert (
        list(ask(Subject(read_in_environment(f"{text}environments: {{here: {{}}}}\n", "d", "here"), {"d": text}))) == []
    )
