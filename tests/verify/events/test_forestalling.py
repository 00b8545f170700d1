"""Timers that another one of the same start always forestalls, and what is said of both."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.design import Design, Timer
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


@pytest.mark.slow
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


STARTS = st.sampled_from(["pod starts", "job starts", "pod.start starts", "pod is idle"])
ENDING = {"delete pod": "pod", "kill pod": "pod", "restart pod": "pod", "pod ends": "pod", "requeue pod": "pod",
          "delete job": "job", "fail job": "job", "job ends": "job", "all of job end": "job"}  # fmt: skip
THENS = st.sampled_from([*ENDING, "alert pod", "first pod ends", "pod.start ends"])
TIMERS = st.lists(st.tuples(STARTS, SECONDS, st.booleans(), THENS), min_size=2, max_size=7)


def ends_both(text: str) -> set[tuple[str, str]]:
    """Returns every pair of timers of which the first ends what both run from, by looking at all pairs."""
    timers = read_text(text, "case.yaml").timers.values()
    found = set()
    for early, other in itertools.permutations(timers, 2):
        thing = ENDING.get(early.then.text if early.then else "")
        starts = [timer.start for timer in (early, other) if timer.start is not None and timer.start.kind == "starts"]
        lifted = [timer.unless.text if timer.unless else "" for timer in (early, other)]
        if len(starts) == 2 and starts[0].thing == starts[1].thing == thing:
            found |= {(early.name, other.name)} if lifted[0] in ("", lifted[1]) else set()
    return found


@pytest.mark.slow
@settings(deadline=None)
@given(TIMERS)
def test_the_pairs_are_those_that_a_look_at_all_pairs_finds(timers: list[tuple[str, int, bool, str]]) -> None:
    lines = [
        f"  t{number}: {{from: {start}, after: {due} s, {'unless: pod.start ends, ' if lifted else ''}then: {then}}}"
        for number, (start, due, lifted, then) in enumerate(timers)
    ]
    parts = "components: {pod: {takes: {start: 5 s .. 600 s}}, job: {}}"
    text = "\n".join(["coherence: 1", parts, "timers:", *lines, ""])
    found = [(pair.early.name, pair.other.name) for pair in forestalling.pairs(read_text(text, "case.yaml"))]
    assert len(found) == len(set(found))
    assert set(found) <= ends_both(text)
    alike = {pair for pair in ends_both(text) if timers[int(pair[0][1:])][0] == timers[int(pair[1][1:])][0]}
    assert alike <= set(found)  # of one start they are ordered by their times


def test_timers_of_other_things_are_not_laid_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    armed = forestalling._is_armed

    def counted(design: Design, early: Timer, other: Timer) -> bool:
        looked.append(early.name)
        return armed(design, early, other)

    monkeypatch.setattr(forestalling, "_is_armed", counted)
    lines = [
        f"  t{n}: {{from: pod{n // 2} starts, after: {n % 2 + 1} s, then: delete pod{n // 2}}}" for n in range(200)
    ]
    design = read_text("\n".join(["coherence: 1", "timers:", *lines, ""]), "many.yaml")
    assert len(forestalling.pairs(design)) == 200
    assert len(looked) == 200
    assert [forestalling.forestaller(design, design.timers[name]) is not None for name in ("t0", "t1")] == [False, True]
