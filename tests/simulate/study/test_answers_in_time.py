"""Requests that are not answered within a promised time: the first of them, failed and unfinished ones included."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.requests.engine import simulate
from coherence.simulate.requests.program import Route, Service, Station
from coherence.simulate.study.answers_in_time import AnswerPromise, answer_promise, first_late
from tests.simulate.requests.programs import one_call

SLOW = Station("pool", 1, Service(2.0, "constant"))


@pytest.mark.parametrize(("within", "late"), [(10.0, None), (3.0, 4.0), (1.0, 1.0)])
def test_the_first_request_that_is_late_is_named_when_its_time_is_over(within: float, late: float | None) -> None:
    program = one_call(station=SLOW, kind="trace", times=(0.0, 1.0, 1.0))
    result = simulate(program, seed=1, until=20)
    assert first_late(AnswerPromise("web", within), program, result, 0.0) == late


def test_a_request_that_fails_is_not_answered_and_neither_is_one_that_never_ends() -> None:
    failing = one_call(Route("call", "pool", per_try=1.0), SLOW, kind="trace", times=(0.0,))
    assert first_late(AnswerPromise("web", 5.0), failing, simulate(failing, seed=1, until=20), 0.0) == 1.0
    stuck = one_call(station=Station("pool", 0, Service(1.0)), kind="trace", times=(0.5,))
    late = first_late(AnswerPromise("web", 5.0), stuck, simulate(stuck, seed=1, until=20), 0.0)
    assert late is not None


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("after web.accepted then web.completed within 5 s", AnswerPromise("web", 5.0)),
        ("after web.arrives then web.answered within 5 s", AnswerPromise("web", 5.0)),
        ("after web.accepted then other.completed within 5 s", None),
        ("after web.accepted then web.exploded within 5 s", None),
        ("always web.rate > 1 req/s", None),
    ],
)
def test_the_words_of_a_promise_of_answers(text: str, promise: AnswerPromise | None) -> None:
    design = read_text(f"coherence: 1\nworkload: {{web: {{rate: 1 req/s}}}}\npromises: {{p: {text}}}\n", "d.yaml")
    assert answer_promise(design, design.promises["p"]) == promise
