"""Findings of `after a then b within t`: verdict, times and words, of runs known by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question
from coherence.verify.promises.loop_responses import answer, driven
from tests.verify.promises.plants import relay, subject_of

QUESTION = Question("COH999", "response")


def finding(promise: str, **more: str) -> Finding:
    subject = subject_of(relay(promise, **more))
    return answer(QUESTION, subject, subject.model.promises["p"])


@pytest.mark.parametrize(
    ("promise", "verdict"),
    [
        # x is 0 before the first step, then 4, 6, 4, 6, ... from 0, 1, 2, 3, ... on
        ("after x >= 6 then x < 6 within 1 s", Verdict.PROVED),
        ("after x < 1 then x >= 6 within 1 s", Verdict.PROVED),
        ("after x > 9 then x < 6 within 1 s", Verdict.VACUOUS),
        ("after x >= 6 then x < 6 within 0.5 s", Verdict.CONFLICT),
        ("after x < 1 then x >= 6 within 0.5 s", Verdict.CONFLICT),
    ],
)
def test_a_response_is_proved_vacuous_or_late(promise: str, verdict: Verdict) -> None:
    told = finding(promise)
    assert told.verdict is verdict
    assert told.of == ("p", "act")
    assert (told.evidence.certificate is not None) is (verdict is not Verdict.CONFLICT)
    words = {Verdict.PROVED: "holds in every run", Verdict.VACUOUS: "says nothing, the first condition never holds"}
    assert verdict not in words or told.message == f"{promise}: {words[verdict]}"


def test_a_late_answer_says_when_it_was_due_and_when_it_came() -> None:
    late = finding("after x >= 6 then x < 6 within 0.5 s")
    assert late.message == "after x >= 6 then x < 6 within 0.5 s: broken after 1 s, answered after 1 s"
    assert dict(late.evidence.numbers) == {
        "promised": (Fraction(1, 2), "s"), "due from": (Fraction(1), "s"), "answered after": (Fraction(1), "s"),
    }  # fmt: skip
    told = [(step.time, step.text) for step in late.evidence.witness if "plant.x" in step.text]
    assert told == [
        (1, "an answer is due: plant.x = 6"),
        (Fraction(3, 2), "after x >= 6 then x < 6 within 0.5 s is broken: plant.x = 6"),
    ]
    assert late.certainty == "certain"
    times = [step.time for step in late.evidence.witness if step.time is not None]
    assert times == sorted(times)


def test_an_answer_that_never_comes_has_no_time() -> None:
    late = finding("after x < 1 then x >= 9 within 1 s")
    assert late.message == "after x < 1 then x >= 9 within 1 s: broken after 0 s, not answered in the run"
    assert "answered after" not in late.evidence.numbers


def test_an_answer_is_looked_for_up_to_twenty_times_the_promised_time() -> None:
    # v is 1 below 3.9, so that x creeps to 2: x >= 1.9 comes after 5 steps (0, 1, 1.5, 1.75, 1.875, 1.9375)
    creeping = {"high": "1", "low": "1"}
    for within, message in (("0.2", "answered after 4 s"), ("0.19", "not answered in the run")):
        told = finding(f"after x < 0.5 then x >= 1.9 within {within} s", **creeping)
        assert told.message.endswith(message), within


def test_some_late_starts_are_possible() -> None:
    assert finding("after x >= 6 then x < 4 within 0.5 s", start="0 .. 20").certainty == "certain"
    assert finding("after x >= 9 then x < 6 within 0.5 s", start="0 .. 20").certainty == "possible"


@pytest.mark.parametrize(
    ("promise", "expected"),
    [
        ("after x >= 6 then x < 6 within 1 s", True),
        ("after act then x < 6 within 1 s", True),
        ("after x >= meter.reading then x < 6 within 1 s", False),
        ("after app calls db then app answers within 1 s", False),
    ],
)
def test_a_response_is_about_conditions_that_a_loop_has_a_part_in(promise: str, expected: bool) -> None:
    subject = subject_of(relay(promise))
    assert driven(subject, subject.model.promises["p"]) is expected
