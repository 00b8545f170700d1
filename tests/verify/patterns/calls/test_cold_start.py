"""A call to something that may be scaled to zero: which of its tries can wait for the start, beyond those looked at."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import budget_containment
from coherence.verify.patterns.calls._cold_start import MOST_TRIES

CONFLICT, UNDECIDED, PROVED = Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.PROVED


def verdict(start: str, call: str) -> Verdict:
    """Returns the answer about a start from zero of a thing that serves in 10 s."""
    text = f"""coherence: 1
components: {{model: {{copies: 0 .. 3, takes: {{start: {start}, serve: 10 s}}}}}}
calls: [{{from: app, to: model, {call}, retry_when: [timeout]}}]
"""
    answers = budget_containment.ask(Subject(read_text(text), {"<design>": text}))
    (finding,) = (f for f in answers if "start" in f.message or "after the first" in f.message)
    return finding.verdict


@pytest.mark.parametrize(("start", "expected"), [("1990 s", PROVED), ("1991 s", UNDECIDED), ("1 h", UNDECIDED)])
def test_tries_beyond_those_that_are_looked_at_are_left_open(start: str, expected: Verdict) -> None:
    """The two hundredth try of 10 s begins after 1990 s and waits for an answer of 10 s just until it is there."""
    assert MOST_TRIES == 200
    assert verdict(start, "tries: unlimited, per_try: 10 s") is expected


@pytest.mark.parametrize(("tries", "expected"), [(200, CONFLICT), (201, UNDECIDED)])
def test_where_there_are_no_further_tries_nothing_is_left_open(tries: int, expected: Verdict) -> None:
    assert verdict("1 h", f"tries: {tries}, per_try: 10 s") is expected


def test_a_try_that_is_shorter_than_an_answer_reaches_none() -> None:
    assert verdict("1 h", "tries: unlimited, per_try: 9.9 s") is CONFLICT
    assert verdict("1 h", "tries: unlimited, per_try: 10 s") is UNDECIDED


def test_a_deadline_before_the_further_tries_leaves_none() -> None:
    assert verdict("1 h", "tries: unlimited, per_try: 10 s, deadline: 1900 s") is CONFLICT
    assert verdict("1 h", "tries: unlimited, per_try: 10 s, deadline: 2 h") is UNDECIDED
