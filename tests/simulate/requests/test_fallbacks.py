"""Fallbacks in the request-level engine: what is called in place of a call that has failed, and when."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.simulate.requests.engine import OUTCOMES, RequestResult, simulate
from coherence.simulate.requests.program import Arrivals, Outage, Program, RetryPause, Route, Service, Source, Station

PLACES = ("first", "second", "third")


def program(
    routes: tuple[Route, ...], down: tuple[Outage, ...], takes: float = 1.0, *, behind: bool = False
) -> Program:
    """Returns a program in which one request at 0 s uses the first route, of a source or of a station in front."""
    stations = [Station(place, 9, Service(takes, "constant")) for place in PLACES]
    source = Source("users", Arrivals("trace", times=(0.0,)), ((routes[0].name,),))
    if behind:
        stations.append(Station("front", 9, Service(0.0, "constant"), plan=source.plan))
        routes = (*routes, Route("to front", "front"))
        source = Source("users", source.arrivals, (("to front",),))
    return Program((source,), tuple(stations), routes, down)


def chain(**first: Any) -> tuple[Route, ...]:
    """Returns three routes, each the fallback of the one before."""
    return (
        Route("a", "first", fallback="b", **first), Route("b", "second", fallback="c"), Route("c", "third"),
    )  # fmt: skip


def refused(*places: str) -> tuple[Outage, ...]:
    return tuple(Outage(place, 0.0, 1e6, "refuse") for place in places)


def answered(result: RequestResult) -> tuple[float, str, int]:
    """Returns when the request ended, how, and how many tries the three routes sent."""
    (end,), (outcome,) = result.requests.end, result.requests.outcome
    return round(float(end), 9), OUTCOMES[outcome], sum(int(result.counters[f"{name}.tries"]) for name in "abc")


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize(
    ("down", "expected"),
    [
        ((), (1.0, "completed", 1)),
        (("first",), (1.4, "completed", 3)),  # two tries with a pause of 0.4 s, then the second place
        (("first", "second"), (1.4, "completed", 4)),
        (PLACES, (0.4, "refused", 4)),
        (("second",), (1.0, "completed", 1)),
    ],
)
def test_a_fallback_comes_after_the_last_try(
    down: tuple[str, ...], expected: tuple[float, str, int], behind: bool
) -> None:
    routes = chain(tries=2, pause=RetryPause(base=0.4))
    end, outcome, tries = answered(simulate(program(routes, refused(*down), behind=behind), seed=1, until=99))
    assert (end, tries) == (expected[0], expected[2])
    assert outcome == ("failed" if behind and expected[1] == "refused" else expected[1])


def test_a_call_that_times_out_is_followed_by_its_fallback_and_both_are_counted() -> None:
    routes = chain(per_try=0.3, deadline=5.0, cancel=True)
    result = simulate(program(routes, ()), seed=1, until=99)
    assert answered(result) == (1.3, "completed", 2)
    assert [result.counters[f"{name}.calls"] for name in "abc"] == [1, 1, 0]
    assert result.counters["a.gave_up"] == 1


def test_a_caller_that_has_left_starts_no_fallback() -> None:
    front = (Route("to front", "front", per_try=0.2, cancel=True, retry_on=()),)
    routes = chain(per_try=0.3, cancel=True)
    stations = tuple(Station(place, 9, Service(1.0, "constant")) for place in PLACES)
    front_station = Station("front", 9, Service(0.0, "constant"), plan=(("a",),))
    source = Source("users", Arrivals("trace", times=(0.0,)), (("to front",),))
    result = simulate(Program((source,), (*stations, front_station), (*routes, *front)), seed=1, until=99)
    assert result.counters["b.calls"] == 0


def test_a_route_that_falls_back_on_itself_and_one_on_nobody_are_refused() -> None:
    round_trip = (Route("a", "first", fallback="b"), Route("b", "second", fallback="a"))
    with pytest.raises(UsageError) as caught:
        simulate(program(round_trip, ()), seed=1, until=1)
    assert "falls back on itself" in str(caught.value)
    with pytest.raises(UsageError) as caught:
        simulate(program((Route("a", "first", fallback="z"),), ()), seed=1, until=1)
    assert "fallback 'z' is not known" in str(caught.value)


def plain(routes: tuple[Route, ...], takes: float, down: set[str]) -> tuple[float, bool, int]:
    """Returns when one request ends, whether with an answer, and after how many tries, worked out call by call."""
    now, sent = 0.0, 0
    for route in routes:
        for number in range(1, route.tries + 1):
            sent += 1
            if route.station not in down and takes <= route.per_try:
                return now + takes, True, sent
            now += 0.0 if route.station in down else route.per_try
            now += 0.0 if number == route.tries else route.pause.base
    return now, False, sent


@pytest.mark.slow
@pytest.mark.parametrize("behind", [False, True])
def test_chains_of_fallbacks_end_as_they_do_call_by_call(*, behind: bool) -> None:
    rng = random.Random(5)  # noqa: S311  (the same chains in every run)
    for _ in range(200):
        takes, down = rng.choice((0.25, 1.0)), {place for place in PLACES if rng.random() < 0.5}
        routes = tuple(
            Route(
                name, place, fallback=after, tries=rng.randint(1, 3), per_try=rng.choice((0.5, 2.0)), cancel=True,
                pause=RetryPause(base=rng.choice((0.0, 0.75)), factor=1.0),
            )
            for name, place, after in zip("abc", PLACES, ("b", "c", ""), strict=True)
        )  # fmt: skip
        whole = program(routes, refused(*down), takes, behind=behind)
        end, outcome, tries = answered(simulate(whole, seed=1, until=999))
        expected = plain(routes, takes, down)
        assert math.isclose(end, expected[0], abs_tol=1e-9), (routes, takes, down)
        assert (outcome == "completed", tries) == expected[1:]
