"""Requests that are not answered within a promised time: the first of them, failed and unfinished ones included."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.requests.engine import RequestRun, simulate
from coherence.simulate.requests.program import Route, Service, Station
from coherence.simulate.study.answers_in_time import AnswerPromise, ArrivalLooks, answer_promise, first_late
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from tests.simulate.requests.programs import one_call

SLOW = Station("pool", 1, Service(2.0, "constant"))


@pytest.mark.parametrize(("within", "late"), [(10.0, None), (3.0, 4.0), (1.0, 1.0)])
def test_the_first_request_that_is_late_is_named_when_its_time_is_over(within: float, late: float | None) -> None:
    program = one_call(station=SLOW, kind="trace", times=(0.0, 1.0, 1.0))
    result = simulate(program, seed=1, until=20)
    assert first_late(AnswerPromise("web", within), program, result, 0.0, ArrivalLooks()) == late


def test_a_request_that_fails_is_not_answered_and_neither_is_one_that_never_ends() -> None:
    failing = one_call(Route("call", "pool", per_try=1.0), SLOW, kind="trace", times=(0.0,))
    assert (
        first_late(AnswerPromise("web", 5.0), failing, simulate(failing, seed=1, until=20), 0.0, ArrivalLooks()) == 1.0
    )
    stuck = one_call(station=Station("pool", 0, Service(1.0)), kind="trace", times=(0.5,))
    late = first_late(AnswerPromise("web", 5.0), stuck, simulate(stuck, seed=1, until=20), 0.0, ArrivalLooks())
    assert late is not None


def test_what_comes_between_the_last_count_and_the_last_time_for_an_answer_is_looked_at() -> None:
    program = one_call(station=Station("pool", 0, Service(1.0)), kind="trace", times=(9.6,))
    answer, until = AnswerPromise("web", 0.5), 10.2
    looks, run = ArrivalLooks([answer], until), RequestRun(program, seed=1, sample_every=9.5)
    looks.advance(run, run, until)
    assert first_late(answer, program, run.result(), 0.0, looks) == pytest.approx(10.2)


def test_a_warm_up_hides_no_request_that_is_never_answered() -> None:
    text = """coherence: 1
workload: {clients: {rate: 600 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 1}}
calls: [{from: clients, to: workers}]
promises: {p: "after clients.accepted then clients.completed within 30 s"}
"""
    (judged,) = study(read_text(text), Setting(100.0, 60.0, seeds=(1,))).promises
    assert str(judged.verdict) == "broken"
    assert judged.seconds == pytest.approx(90, abs=0.2)


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
