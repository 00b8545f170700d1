"""Calls as routes: tries, limits of time, pauses, causes, budgets and breakers; what is told and what is a problem."""

from __future__ import annotations

import math

import pytest

from coherence.base.errors import Problem
from coherence.language.reading import read_text
from coherence.simulate.processes.flow import flow_of
from coherence.simulate.processes.routes import UNTIL_IT_WORKS, routes_of
from coherence.simulate.requests.program import RetryBudget, RetryPause, Route

TEXT = """coherence: 1
workload: {{users: {{rate: 5 req/s}}}}
components: {{web: {{}}}}
calls: [{{from: users, to: web{call}}}]
{limits}"""
NAME = "users -> web"


def made(call: str = "", limits: str = "") -> tuple[Route, list[str], list[Problem]]:
    block = f"limits: {{{limits}}}\n" if limits else ""
    design, notes, problems = read_text(TEXT.format(call=call, limits=block)), list[str](), list[Problem]()
    (route,) = routes_of(design, flow_of(design), notes, problems)
    assert (route.name, route.station) == (NAME, "web")
    return route, notes, problems


@pytest.mark.parametrize(
    ("call", "tries"),
    [
        ("", 1),
        (", tries: 3", 3),
        (", tries: 3 .. 5", 3),
        (", tries: 1", 1),
        (", tries: 0 .. 2", 1),  # the first one is always sent
        (", tries: [1, 3]", 3),
        (", tries: [2, 3]", 6),
        (", tries: unlimited", UNTIL_IT_WORKS),
        (", tries: [2, unlimited]", UNTIL_IT_WORKS),
    ],
)
def test_tries_of_layers_multiply(call: str, tries: int) -> None:
    assert made(call)[0].tries == tries


@pytest.mark.parametrize(
    ("call", "per_try", "deadline", "problem"),
    [
        ("", math.inf, math.inf, False),
        (", per_try: 2 s, on_timeout: cancel", 2, math.inf, False),
        (", deadline: 9 s, on_timeout: cancel", 9, 9, False),
        (", per_try: 2 s, deadline: 9 s, on_timeout: cancel", 2, 9, False),
        (", per_try: 2 s .. 3 s, on_timeout: cancel", 2, math.inf, False),
        (", per_try: 2 s", 2, math.inf, True),
        (", deadline: 9 s", 9, 9, True),
        (", per_try: unlimited", math.inf, math.inf, False),
        (", per_try: 2 s, timeout_kind: connect", math.inf, math.inf, False),
        (", per_try: 2 s, timeout_kind: first byte, on_timeout: cancel", 2, math.inf, False),
        (", per_try: 2 s, timeout_kind: between bytes, on_timeout: cancel", 2, math.inf, False),
        (", per_try: 2 s, timeout_kind: total, on_timeout: cancel", 2, math.inf, False),
    ],
)
def test_limits_of_time_need_a_word_on_what_becomes_of_the_try(
    call: str, per_try: float, deadline: float, problem: bool
) -> None:
    route, notes, problems = made(call)
    assert (route.per_try, route.deadline) == (per_try, deadline)
    assert [one.message for one in problems] == [
        f"{NAME} needs on_timeout: what becomes of a try that was given up"
    ] * problem
    assert bool(notes) is any(word in call for word in ("..", "connect", "byte"))


def test_a_try_given_up_is_cancelled_or_served_to_its_end() -> None:
    assert made(", per_try: 2 s, on_timeout: cancel")[0].cancel
    assert not made(", per_try: 2 s, on_timeout: abandon")[0].cancel


@pytest.mark.parametrize(
    ("call", "pause", "told"),
    [
        ("", RetryPause(), False),
        (", pause: 2 s", RetryPause(2.0, 1.0), False),
        (", pause: {base: 2 s}", RetryPause(2.0), False),
        (", pause: {base: 2 s, factor: 3, cap: 9 s, jitter: full}", RetryPause(2.0, 3.0, 9.0, (0.0, 1.0)), False),
        (", pause: {base: 2 s, jitter: 20 %}", RetryPause(2.0, spread=(0.8, 1.2)), False),
        (", pause: {base: 2 s, jitter: decorrelated}", RetryPause(2.0, decorrelated=True), False),
        (", pause: from answer", RetryPause(), True),
    ],
)
def test_pauses_grow_as_stated(call: str, pause: RetryPause, told: bool) -> None:
    route, notes, _ = made(f", tries: 2{call}")
    assert route.pause == pause
    assert bool(notes) is told


@pytest.mark.parametrize(
    ("words", "causes"),
    [
        ("", ("timeout", "rejected", "failed", "refused")),
        (", retry_when: [timeout]", ("timeout",)),
        (", retry_when: [slow]", ("timeout",)),
        (", retry_when: [unavailable]", ("rejected", "failed", "refused")),
        (", retry_when: [deadline_exceeded, unavailable]", ("timeout", "rejected", "failed", "refused")),
    ],
)
def test_what_is_tried_again(words: str, causes: tuple[str, ...]) -> None:
    route, notes, _ = made(f", tries: 2{words}")
    assert route.retry_on == causes
    assert notes == (
        [f"{NAME}: unavailable stands for every refusal and failure of the callee"] if "un" in words else []
    )


@pytest.mark.parametrize(
    ("limit", "breaker", "most_retries", "budget", "note"),
    [
        ("counts: web.requests in flight, at_most: 7", 7, math.inf, None, ""),
        ("counts: web.requests in flight, at_most: 7, when_full: reject", 7, math.inf, None, ""),
        ("counts: users.requests in flight, at_most: 7", 7, math.inf, None, ""),
        ("counts: web.retries in flight, at_most: 3", math.inf, 3, None, ""),
        ("counts: web.retries in flight, at_most: 20 % of web.requests in flight", math.inf, math.inf,
         RetryBudget(0.2, 0.0, "requests"), ""),
        ("counts: web.retries in flight, at_most: 20 % of web.requests in flight, but_at_least: 3", math.inf, math.inf,
         RetryBudget(0.2, 3.0, "requests"), ""),
        ("counts: web.requests in flight, at_most: 7, when_full: wait", math.inf, math.inf, None, "full (wait)"),
        ("counts: web.requests, at_most: 7, window: 1 s", math.inf, math.inf, None, ""),
        ("counts: other.requests in flight, at_most: 7", math.inf, math.inf, None, ""),
        ("counts: web.requests in flight, at_most: 7, per: host", math.inf, math.inf, None, "per host"),
        ("counts: web.retries in flight, at_most: 20 % of other.requests in flight", math.inf, math.inf, None,
         "not a share of what its call has in flight"),
    ],
)  # fmt: skip
def test_limits_in_flight_are_breakers_and_budgets(
    limit: str, breaker: float, most_retries: float, budget: RetryBudget | None, note: str
) -> None:
    route, notes, _ = made(", tries: 2", f"l: {{{limit}}}")
    assert (route.breaker, route.most_retries, route.budget) == (breaker, most_retries, budget)
    if not note:
        assert notes == ([KEPT] if "web.retries" in limit else [])
    else:
        assert notes[0].startswith("l is not run: ")
        assert note in notes[0]


KEPT = f"{NAME} keeps l, which counts its retries and is not named as its budget"


@pytest.mark.parametrize(("words", "notes"), [("", [KEPT]), (", budget: l", [])])
def test_a_limit_of_retries_that_a_call_does_not_name_as_its_budget_is_kept_and_told(
    words: str, notes: list[str]
) -> None:
    route, lines, _ = made(f", tries: 2{words}", "l: {counts: web.retries in flight, at_most: 3}")
    assert route.most_retries == 3
    assert lines == notes


def test_a_limit_that_several_calls_keep_is_kept_by_each() -> None:
    text = TEXT.format(
        call="}, {from: users, to: web", limits="limits: {l: {counts: web.requests in flight, at_most: 7}}\n"
    )
    design, notes = read_text(text), list[str]()
    routes = routes_of(design, flow_of(design), notes, [])
    assert [route.breaker for route in routes] == [7, 7]
    assert notes == [
        "l is kept by each of users -> web, users -> web for itself",
        "users calls web, web one after another",
    ]


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        (", case: hit", ", case: miss", ["users -> web (in case hit)", "users -> other (in case miss)"]),
        ("", ", fallback_for: web", []),
        (", stage: both", ", stage: both", []),
    ],
)
def test_calls_of_some_cases_are_refused_and_fallbacks_and_stages_are_run(
    first: str, second: str, refused: list[str]
) -> None:
    text = TEXT.format(call=f"{first}}}, {{from: users, to: other{second}", limits="")
    design, notes, problems = read_text(text), list[str](), list[Problem]()
    routes_of(design, flow_of(design), notes, problems)
    assert [problem.message.partition(" is not run")[0] for problem in problems] == refused


def test_a_fallback_is_in_no_stage_and_the_call_that_it_stands_for_leads_to_it() -> None:
    text = TEXT.format(call="}, {from: users, to: other, fallback_for: web", limits="")
    design, notes = read_text(text), list[str]()
    flow = flow_of(design)
    assert [(route.name, route.fallback) for route in routes_of(design, flow, notes, [])] == [
        ("users -> web", "users -> other"),
        ("users -> other", ""),
    ]
    assert flow.plans == {"users": (("users -> web",),)}
    assert notes == []


def test_stages_say_the_order_and_no_note_is_needed() -> None:
    text = TEXT.format(call="}, {from: users, to: other, stage: second", limits="")
    design, notes = read_text(text), list[str]()
    routes_of(design, flow_of(design), notes, [])
    assert notes == []
