"""Envoy's route, retry budget and circuit breaker against a plain router, request by request.

The parts `envoy_retry`, `istio_retry`, `retry_budget` and `circuit_breaker` become a route as in `coherence simulate`,
and the engine of requests runs it; `retrying_proxy.Router` runs the same arrivals, service times, failures and jitter.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes.flow import flow_of
from coherence.simulate.processes.routes import routes_of
from coherence.simulate.requests.draws import uniform
from coherence.simulate.requests.engine import OUTCOMES, simulate
from coherence.simulate.requests.events_world import pauses
from coherence.simulate.requests.program import Arrivals, Outage, Program, Route, Service, Source, Station
from tests.draws import source, trace_counts
from tests.models.retrying_proxy import Answered, RouteConfig, Router
from tests.paths import ROOT

ROUTES = ("envoy_retry", "istio_retry")
PARTS = (*ROUTES, "retry_budget", "circuit_breaker")
UNTIL = 60.0
Spans = list[tuple[float, float]]
ROWS = json.loads((ROOT / "tests/data/models/envoy.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Drawn:
    """What a route is configured with; seconds, counts and percent.  `percent` None: `most_retries` holds."""

    part: str
    tries: int
    per_try: float
    deadline: float
    base: float
    cap: float
    percent: int | None
    floor: int
    most_retries: int | None
    breaker: int | None
    causes: tuple[str, ...]


def drawn(rng: random.Random, part: str) -> Drawn:
    """Returns a route with a budget, a cap on retries, or neither."""
    percent = rng.choice([None, None, 5, 10, 20, 25, 30, 50, 100])
    base = rng.choice([0.001, 0.025, 0.1, 0.5])
    return Drawn(
        part, rng.randint(1, 5), rng.choice([0.3, 0.8, 2.0]), rng.choice([1.0, 2.5, 15.0]),
        base, base * rng.choice([1, 3, 10]), percent, rng.choice([0, 1, 3]),
        rng.choice([None, 1, 3, 5]) if percent is None else None, rng.choice([None, None, 3, 8]),
        rng.choice([("timeout", "unavailable"), ("timeout",), ("unavailable",)]),
    )  # fmt: skip


def design(route: Drawn) -> str:
    """Returns the design with the parts."""
    call = (
        f"uses: {route.part}, from: users, to: web, tries: {route.tries}, per_try: {route.per_try} s, "
        f"deadline: {route.deadline} s, pause: {{base: {route.base} s, cap: {route.cap:g} s}}, "
        f"retry_when: [{', '.join(route.causes)}], on_timeout: cancel"
    )
    limits = "".join(f"  {name}: {{{limit}}}\n" for name, limit in limits_of(route))
    head = "coherence: 1\nworkload: {users: {rate: 5 req/s}}\ncomponents: {web: {}}\n"
    return f"{head}calls: [{{{call}}}]\n" + (f"limits:\n{limits}" if limits else "")


def limits_of(route: Drawn) -> Iterator[tuple[str, str]]:
    """Yields the limits of the cluster as parts."""
    if route.percent is not None:
        share = f"at_most: {route.percent} % of users in flight, but_at_least: {route.floor}"
        yield "budget", f"uses: retry_budget, counts: users.retries in flight, {share}"
    if route.most_retries is not None:
        yield "retries", f"uses: circuit_breaker, counts: users.retries in flight, at_most: {route.most_retries}"
    if route.breaker is not None:
        yield "requests", f"uses: circuit_breaker, counts: users.requests in flight, at_most: {route.breaker}"


def engine_route(route: Drawn) -> Route:
    """Returns the route that `coherence simulate` makes of the parts."""
    read = read_text(design(route))
    (made,) = routes_of(read, flow_of(read), [], [])
    return made


def engine(
    route: Drawn, arrivals: list[float], service: list[float], down: list[tuple[float, float]]
) -> list[Answered]:
    """Returns (end, tries, outcome) of each request as the engine runs it: answers fail while `deep` is down."""
    call = replace(engine_route(route), name="users -> web", station="web")
    stations = (
        Station("web", 1_000_000, Service(1.0, "values", values=tuple(service)), plan=(("deep",),)),
        Station("deep", 1_000_000, Service(0.0, "constant")),
    )
    outages = tuple(Outage("deep", start, end - start, "refuse") for start, end in down)
    source = Source("users", Arrivals("trace", times=tuple(arrivals)), (("users -> web",),))
    program = Program((source,), stations, (call, Route("deep", "deep")), outages)
    done = simulate(program, seed=1, until=UNTIL, sample_every=math.inf).requests
    rows = sorted(zip(done.start.tolist(), done.end.tolist(), done.tries.tolist(), done.outcome.tolist(), strict=True))
    return [(end, int(tries), OUTCOMES[outcome]) for _, end, tries, outcome in rows]


def plain(route: Drawn, arrivals: list[float], service: list[float], down: Spans) -> list[Answered]:
    """Returns the same as the plain router answers them."""
    draws = iter(uniform(1, "jitter of users -> web")(4096).tolist())
    config = RouteConfig(
        route.tries - 1, route.per_try, route.deadline, lambda k: min(route.cap, route.base * 2 ** (k - 1)),
        route.percent, route.floor, math.inf if route.most_retries is None else route.most_retries,
        math.inf if route.breaker is None else route.breaker,
        "timeout" in route.causes, "unavailable" in route.causes,
    )  # fmt: skip
    router = Router(
        config, lambda k: service[(k - 1) % len(service)], lambda t: any(a <= t < b for a, b in down),
        lambda: next(draws),
    )  # fmt: skip
    answers = router.run(arrivals)
    return [answer for answer in answers if answer is not None]


def trace(rng: random.Random) -> tuple[list[float], list[float], Spans]:
    """Returns arrivals, service times in the order of sending, and when answers are errors."""
    arrivals = sorted(rng.uniform(0, 6) for _ in range(rng.randint(3, 60)))
    service = [rng.choice([0.05, 0.4, 1.0, 3.0]) * rng.uniform(0.5, 1.5) for _ in range(97)]
    down, time = [], 0.0
    while time < 8:
        start = time + rng.uniform(0.1, 3)
        time = start + rng.uniform(0.1, 3)
        down.append((start, time))
    return arrivals, service, down


def close(mine: list[Answered], other: list[Answered]) -> bool:
    """Decides whether both answered alike, times within a microsecond."""
    return len(mine) == len(other) and all(
        a[1:] == b[1:] and abs(a[0] - b[0]) < 1e-6 for a, b in zip(mine, other, strict=True)
    )


@pytest.mark.parametrize("part", ROUTES)
@trace_counts(50, parts=20, of=PARTS)
def test_the_engine_answers_each_request_as_the_router_does(part: str, traces: int) -> None:
    """Half of the routes and more have a cap, and three in four a budget."""
    rng = source(7)
    for _ in range(traces):
        route, given = drawn(rng, part), trace(rng)
        assert close(engine(route, *given), plain(route, *given)), (route, given)


@pytest.mark.parametrize("row", ROWS["retry_budget"], ids=str)
def test_so_many_requests_allow_so_many_retries(row: dict[str, Any]) -> None:
    """All requests are sent at once, and fail one after another while the others are on their way."""
    route = Drawn(
        "envoy_retry", 2, 50.0, 60.0, 0.001, 0.001, row["percent"], row["floor"], None, None, ("unavailable",)
    )
    arrivals = [0.001 * k for k in range(row["active"])]
    service = [1.0 + 0.01 * k for k in range(row["active"])] + [20.0] * row["active"]
    answers = engine(route, arrivals, service, [(0.9, 1.9)])
    assert answers == plain(route, arrivals, service, [(0.9, 1.9)])
    # each later one has one active request less before it and its own retries' beside it: the first ones decide
    assert sum(tries == 2 for _, tries, _ in answers) == row["retries"]


@pytest.mark.parametrize("row", ROWS["backoff"], ids=str)
@pytest.mark.parametrize("part", ROUTES)
def test_the_pauses_are_those_of_the_originals_tests(row: dict[str, Any], part: str) -> None:
    base, most = row["base"] / 1000, row["max"] / 1000
    route = engine_route(Drawn(part, 8, 1.0, 60.0, base, most, None, 3, None, None, ("timeout",)))
    waits = [row["random"] % round(1000 * pause) for pause in pauses(route)[: len(row["waits"])]]
    assert route.pause.spread == (0.0, 1.0)
    assert waits == row["waits"]
