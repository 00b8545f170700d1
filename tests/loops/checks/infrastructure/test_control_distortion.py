"""Control distortion beside a plain run of the one loop that its cases have, for delays around its period."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.checks.infrastructure._what_lies_between import slower
from coherence.loops.checks.infrastructure.control_distortion import absences, ask

TEXT = """coherence: 1
infrastructure: {{boundaries: {{vms: {{kind: {kind}, around: [pool], {between}}}}}}}
components: {{pool: {{desired: 0.5 .. 400, load: 20, util: load / desired}}}}
loops:
  hpa:
    inside: none
    target: {{signal: pool.util, setpoint: 50 %}}
    timescale: {{period: {period} s, phase: 0 s}}
    actuation: {{signal: pool.desired, count: commanded, from: 20, bounds: [1, 400.5]}}
"""


def answers(between: str, *, period: int = 15, kind: str = "virtualization") -> list[Finding]:
    """Returns the answers about the loop with this between it and its pool, or the proof that it settles."""
    text = TEXT.format(between=between, period=period, kind=kind)
    subject = Subject(read_text(text, "d"), {"d": text})
    return list(ask(subject)) or list(absences(subject))


def rests(delay: int, period: int, *, samples: int = 400) -> bool:
    """Whether the last commands are all alike: `c <- c x 20 / effect / 50 %`, each `delay` seconds late."""
    command, written = Fraction(20), [(-delay, Fraction(20))]
    for sample in range(samples):
        effect = [value for at, value in written if at + delay <= sample * period][-1]
        command = min(max(command * 40 / effect, Fraction(1)), Fraction(801, 2))
        written = [*written[-20:], (sample * period, command)]
    return len({value for _, value in written[-20:]}) == 1


@pytest.mark.parametrize(("delay", "period"), [(4, 5), (5, 5), (6, 5), (11, 5), (16, 17)])
def test_the_verdict_is_that_of_a_plain_run(delay: int, period: int) -> None:
    (finding,) = answers(f"added_delay: {delay} s", period=period)
    assert finding.verdict is (Verdict.PROVED if rests(delay, period) else Verdict.CONFLICT)
    if finding.verdict is Verdict.CONFLICT:
        assert finding.evidence.numbers["delay in periods"] == (Fraction(delay, period), "of a period")
        assert "its delay alone does it" in finding.message


def test_delay_is_told_before_gain_where_both_are_there() -> None:
    (finding,) = answers("added_delay: 16 s, gain: 50 %")
    assert finding.verdict is Verdict.CONFLICT
    assert "its delay alone does it (16 s, 1.066667 of a period)" in finding.message


def test_a_constant_overhead_is_slower_and_obedient() -> None:
    (finding,) = answers("gain: 50 %")
    assert finding.verdict is Verdict.PROVED


def test_another_site_is_no_virtualization() -> None:
    assert answers("added_delay: 16 s", kind="environment") == []


@pytest.mark.parametrize(
    ("period", "delay", "longer"),
    [("15 s", "16 s", "17 s"), ("15 s", "15.5 s", "16 s"), ("15 ms", "16 ms", "17 ms"), ("1.5 s", "1.6 s", "1.7 s"),
     ("1 min", "61 s", "62 s")],
)  # fmt: skip
def test_a_longer_period_is_counted_as_it_is_written(period: str, delay: str, longer: str) -> None:
    text = TEXT.format(between=f"added_delay: {delay}", period=15, kind="virtualization").replace("15 s", period)
    subject = Subject(read_text(text, "d"), {"d": text})
    (repair,) = slower(subject, ["hpa"], subject.design.boundaries["vms"].added_delay.high)  # type: ignore[union-attr]
    assert [(edit.old, edit.new) for edit in repair.edits] == [(period, longer)]


@pytest.mark.slow
def test_the_smallest_period_is_found_whatever_the_proof_without_the_conflict_reads() -> None:
    text = TEXT.format(between="added_delay: 16 ms", period=15, kind="virtualization").replace("15 s", "15 ms")
    answered = analyse(read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"))
    (finding,) = (finding for finding in answered.findings if finding.code == "COH504")
    assert [(edit.old, edit.new) for repair in finding.repairs for edit in repair.edits] == [("15 ms", "17 ms")]


def test_loops_that_settle_for_every_gain_of_a_range_are_not_distorted() -> None:
    (finding,) = answers("gain: 50 % .. 100 %")
    assert finding.verdict is Verdict.PROVED
