"""Breakers that open after failures, beside a breaker of plain Python and closed forms."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coherence.simulate.requests.engine import OUTCOMES, RequestResult, simulate
from coherence.simulate.requests.program import OpeningBreaker, Outage, RetryPause, Route, Service, Station
from tests.draws import few
from tests.simulate.requests.programs import one_call, openings

ROOMY = Station("pool", 1000, Service(1.0, values=(0.1, 0.9, 0.4, 0.2)))
UNTIL = 400.0  # s
THREE = OpeningBreaker(share=1.0, last=3, least=3, open_for=10.0)


class PlainBreaker:
    """The same rules, as a list of outcomes and three names."""

    def __init__(self, rules: OpeningBreaker) -> None:
        self.rules, self.state, self.until, self.permits = rules, "closed", 0.0, 0
        self.outcomes: deque[bool] = deque(maxlen=rules.last)

    def lets_through(self, now: float) -> bool:
        if self.state == "open" and now > self.until:
            self.state, self.permits, self.outcomes = "half open", self.rules.trials, deque(maxlen=self.rules.trials)
        if self.state == "half open":
            self.permits -= 1
            return self.permits >= 0
        return self.state == "closed"

    def note(self, now: float, *, failed: bool) -> None:
        if self.state == "open":
            return
        self.outcomes.append(failed)
        if len(self.outcomes) < min(self.rules.least, self.outcomes.maxlen or 0):
            return
        if sum(self.outcomes) / len(self.outcomes) >= self.rules.share:
            self.state, self.until = "open", now + self.rules.open_for
        elif self.state == "half open":
            self.state, self.outcomes = "closed", deque(maxlen=self.rules.last)


def through(breaker: OpeningBreaker, station: Station, route: Route | None = None, **arrivals: Any) -> RequestResult:
    route = replace(route or Route("call", "pool", per_try=0.5), opening=breaker)
    return simulate(one_call(route, station, **arrivals), seed=3, until=UNTIL)


def outcomes(result: RequestResult) -> list[str]:
    return [OUTCOMES[number] for number in result.requests.outcome]


@settings(max_examples=few(60), deadline=None)
@example(OpeningBreaker(share=0.5, last=2, least=1, open_for=0.0), 8.0, 0.5)  # a trial has no answer at 400 s
@given(openings.filter(bool), st.sampled_from([0.3, 2.0, 8.0]), st.sampled_from([0.15, 0.3, 0.5]))
def test_each_request_passes_where_a_plain_breaker_lets_it(breaker: OpeningBreaker, rate: float, limit: float) -> None:
    requests = through(breaker, ROOMY, Route("call", "pool", per_try=limit), rate=rate).requests
    rejected = OUTCOMES.index("rejected")
    events = [(start, 1, of) for start, of in zip(requests.start, requests.outcome, strict=True)]
    events += [(end, 0, of) for end, of in zip(requests.end, requests.outcome, strict=True) if of != rejected]
    plain = PlainBreaker(breaker)
    answered = [event for event in sorted(events) if event[0] < UNTIL - limit]  # later ones may lack sends between them
    assert len(answered) > len(requests.start) / 2
    for time, sends, outcome in answered:
        if sends:
            assert plain.lets_through(time) == (outcome != rejected), time
        else:
            plain.note(time, failed=outcome != 0)


def test_so_many_failures_in_a_row_open_it_and_one_trial_after_a_time_closes_it() -> None:
    times = (0.0, 1.0, 2.0, 3.0, 4.0, 12.0, 13.0, 14.0)
    program = one_call(Route("call", "pool", opening=THREE), ROOMY, kind="trace", times=times)
    result = simulate(replace(program, outages=(Outage("pool", 0.0, 2.5, "refuse"),)), seed=1, until=20)
    refused, closed = ["refused"] * 3, ["completed"] * 2
    assert outcomes(result)[:5] == [*refused, "rejected", "rejected"]
    assert outcomes(result)[5:] == ["rejected", *closed]  # open until 12 s, and at 12 s still
    assert result.counters["call.broken"] == 3


def test_a_success_between_failures_keeps_it_closed() -> None:
    times = tuple(float(k) for k in range(9))
    station = Station("pool", 1000, Service(1.0, values=(0.9, 0.9, 0.1)))
    result = through(THREE, station, kind="trace", times=times)
    assert outcomes(result) == ["timeout", "timeout", "completed"] * 3


def test_a_back_end_that_always_fails_is_asked_once_in_each_time_that_it_is_open() -> None:
    """The wait for the next arrival after it is memoryless: open for 10 s, then 1 / rate until the trial."""
    program = one_call(Route("call", "pool", opening=THREE), ROOMY, rate=2.0)
    result = simulate(replace(program, outages=(Outage("pool", 0.0, 1e9, "refuse"),)), seed=1, until=21_000)
    assert result.counters["call.refused"] == pytest.approx(21_000 / (10 + 1 / 2), rel=0.01)


def test_what_an_open_breaker_fails_is_tried_again_as_rejected() -> None:
    route = Route("call", "pool", tries=4, pause=RetryPause(5.0, 1.0), retry_on=("rejected", "refused"), opening=THREE)
    program = one_call(route, ROOMY, kind="trace", times=(0.0,))
    result = simulate(replace(program, outages=(Outage("pool", 0.0, 9.0, "refuse"),)), seed=1, until=60)
    assert (result.counters["call.refused"], result.counters["call.tries"]) == (2, 3)
    held = simulate(
        replace(program, routes=(replace(route, opening=replace(THREE, last=1, least=1)),),
                outages=(Outage("pool", 0.0, 4.0, "refuse"),)), seed=1, until=60,
    )  # fmt: skip
    assert (held.counters["call.broken"], held.counters["call.succeeded"]) == (2, 1)
