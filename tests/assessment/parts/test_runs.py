"""Runs behind pictures: how long they last, what is compared, and how curves are cut into parts and spans."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.assessment.parts.runs import MOST, loop_bounds, means, run_answers, sampled, spans, unit_words
from coherence.language.reading import read_text
from tests.assessment.run_assessments import DESIGN, curve
from tests.paths import SPECS

SLOW = DESIGN.replace("10 s", "100 min")


def test_a_mean_is_that_of_the_time_that_a_value_held() -> None:
    steps = curve("q", "queue", [(0.0, 0.0), (5.0, 4.0), (10.0, 4.0)])
    assert means(steps, 10.0, 4).tolist() == [0.0, 0.0, 4.0, 4.0]
    assert means(steps, 10.0, 1).tolist() == [2.0]
    assert sampled(steps, np.array([-1.0, 4.9, 5.0, 99.0])).tolist() == [0.0, 0.0, 4.0, 4.0]


def test_spans_end_where_it_no_longer_holds_or_the_run_ends() -> None:
    assert list(spans(np.array([0.0, 1.0, 2.0, 3.0]), [True, False, True, True], 9.0)) == [(0.0, 1.0), (2.0, 9.0)]
    assert unit_words([2.0, 5.0, float("nan")], "W") == "2 to 5 W"
    assert unit_words([], "W") == "not known"


def test_bounds_are_those_of_loops() -> None:
    assert dict(loop_bounds(read_text(DESIGN))) == {"pool.copies": (1.0, 9.0)}


def test_a_run_of_loops_lasts_many_periods_and_no_longer_than_two_hours() -> None:
    answers = run_answers(read_text(SLOW), None, 60.0)
    assert answers.end == MOST
    assert answers.command == ("--for", "7200 s", "--warm-up", "0 s", "--runs", "1")


def test_a_design_that_cannot_run_says_why() -> None:
    assert "nothing here runs" in run_answers(read_text("coherence: 1\n"), None, 60.0).refused


@pytest.mark.slow
def test_two_designs_meet_the_same_arrivals() -> None:
    designs = [
        read_text((SPECS / name / "design.yaml").read_text()) for name in ("retry-storm-repaired", "retry-storm")
    ]
    answers = run_answers(designs[0], designs[1], 120.0)
    changed = {reading.key[:2]: reading for reading in answers.changed}
    assert changed["clients", "arrive"].value == pytest.approx(0.0, abs=1e-9)
    assert changed["clients", "succeed"].value > 50
    assert answers.command == ("--for", "600 s", "--warm-up", "0 s", "--runs", "3")
