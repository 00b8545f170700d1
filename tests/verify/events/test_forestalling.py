"""Timers that another one of the same start always forestalls, and what is said of both."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.events import forestalling
from tests.second_interpreter.laid import MODULES

DESIGN = """\
coherence: 1
components: {{pod: {{takes: {{start: 5 s .. {longest} s}}}}}}
timers:
  early: {{from: {start}, after: {low} s .. {high} s, unless: pod.start ends, then: {then}}}
  other: {{from: pod starts, after: {due} s, unless: pod.start ends, then: fail job}}
"""
SECONDS = st.integers(1, 600)


def design(start: str = "pod starts", low: int = 60, high: int = 120, due: int = 300, **more: object) -> str:
    words = {"longest": 600, "then": "delete pod", **more}
    return DESIGN.format(start=start, low=low, high=high, due=due, **words)


def forestallers(text: str) -> dict[str, str]:
    """Returns by which timer each one is always forestalled."""
    subject = read_text(text, "case.yaml")
    pairs = [forestalling.forestaller(subject, timer) for timer in subject.timers.values()]
    return {pair.other.name: pair.early.name for pair in pairs if pair is not None}


def answers(text: str, code: str, name: str) -> list[Finding]:
    subject = Subject(read_text(text, "case.yaml"), {})
    return [finding for finding in MODULES[code].ask(subject) if finding.of[0] == name]


def test_a_timer_that_ends_what_both_run_from_forestalls_a_later_one() -> None:
    assert forestallers(design()) == {"other": "early"}


def test_one_that_only_tells_or_ends_another_thing_or_runs_from_elsewhere_forestalls_none() -> None:
    assert not forestallers(design(then="alert oncall"))
    assert not forestallers(design(then="delete job"))
    assert not forestallers(design(start="job starts"))


def test_one_that_may_fire_at_the_same_time_or_later_forestalls_none() -> None:
    assert not forestallers(design(high=300))
    assert not forestallers(design(high=400))


@given(SECONDS, SECONDS, SECONDS, st.integers(6, 900))
def test_what_never_fires_is_not_said_to_fire_too_soon_and_what_may_fire_is(
    low: int, high: int, due: int, longest: int
) -> None:
    low, high = sorted((low, high))
    text = design(low=low, high=high, due=due, longest=longest)
    never = [finding for finding in answers(text, "COH213", "other") if "never fires" in finding.message]
    (too_soon,) = answers(text, "COH207", "other")
    assert bool(never) == (high < due)
    overruns = Verdict.NOTE if never else Verdict.CONFLICT
    assert too_soon.verdict is (overruns if longest >= due else Verdict.PROVED)
