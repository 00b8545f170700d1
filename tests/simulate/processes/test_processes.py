"""Design -> request-level program."""

from __future__ import annotations

import math

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.simulate.processes import Processes, has_requests, processes
from coherence.simulate.requests.program import Arrivals, RateBurst, RetryBudget, RetryPause, Route, Service

RETRYING = """\
coherence: 1
workload:
  clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}}
components:
  workers: {copies: 4}
calls:
  - {from: clients, to: workers, per_try: 250 ms, tries: 3, retry_when: [timeout], on_timeout: abandon}
"""


def made(text: str) -> Processes:
    return processes(read_text(text, "design.yaml"))


def test_a_workload_a_component_and_a_call_make_a_source_a_station_and_a_route() -> None:
    program = made(RETRYING).program
    (source,), (station,), (route,) = program.sources, program.stations, program.routes
    assert source.arrivals == Arrivals(rate=50.0)
    assert source.plan == (("clients -> workers",),)
    assert (station.name, station.servers, station.service) == ("workers", 4, Service(0.04))
    expected = Route("clients -> workers", "workers", tries=3, per_try=0.25, retry_on=("timeout",))
    assert route == expected


def test_what_the_run_assumes_is_said() -> None:
    assert made(RETRYING).assumptions == ("requests of clients arrive one by one at random (Poisson)",)


def test_a_burst_begins_after_a_quiet_minute() -> None:
    text = RETRYING.replace("cv: 1}}", "cv: 1}, burst: {rate: 150 req/s, lasts: 3 s, every: 10 min}}")
    arrivals = made(text).program.sources[0].arrivals
    assert arrivals.bursts == (RateBurst(150.0, 60.0, 3.0, 600.0),)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("arrivals: {cv: 3}", Arrivals("gamma", 50.0, 3.0)),
        ("arrivals: {cv: 0}", Arrivals("regular", 50.0, 0.0)),
        ("arrivals: regular", Arrivals("regular", 50.0)),
        ("arrivals: poisson", Arrivals("poisson", 50.0)),
        (
            "arrivals: {switches: [{rate: 20 req/s, lasts: 1 min}, {rate: 200 req/s, lasts: 5 s}]}",
            Arrivals("mmpp", states=((20.0, 60.0), (200.0, 5.0))),
        ),
    ],
)
def test_how_irregular_arrivals_are(stated: str, expected: Arrivals) -> None:
    assert (
        made(RETRYING.replace("rate: 50 req/s,", f"rate: 50 req/s, {stated},")).program.sources[0].arrivals == expected
    )


@pytest.mark.parametrize(
    ("cv", "service"),
    [("0", Service(0.04, "constant", 0.0)), ("0.5", Service(0.04, "gamma", 0.5)), ("2", Service(0.04, "gamma", 2.0))],
)
def test_the_family_of_service_times_follows_their_variation(cv: str, service: Service) -> None:
    found = made(RETRYING.replace("cv: 1", f"cv: {cv}")).program.stations[0].service
    assert (found.family, found.mean) == (service.family, service.mean)
    assert found.cv == pytest.approx(service.cv)


def test_two_workloads_at_one_station_are_a_mixture_with_the_moments_of_both() -> None:
    text = RETRYING.replace(
        "workload:\n", "workload:\n  batch: {rate: 50 req/s, service: {mean: 120 ms, cv: 0}}\n"
    ).replace("calls:\n", "calls:\n  - {from: batch, to: workers}\n")
    service = made(text).program.stations[0].service
    second = (0.04**2 * 2 + 0.12**2) / 2
    assert service.mean == pytest.approx(0.08)
    assert service.mean**2 * (1 + service.cv**2) == pytest.approx(second)


@pytest.mark.parametrize(
    ("limit", "route"),
    [
        (
            "{uses: retry_budget, counts: clients.retries in flight, at_most: 20 % of clients in flight}",
            {"budget": RetryBudget(0.2, 3.0)},
        ),
        ("{counts: clients.retries in flight, at_most: 3, when_full: reject}", {"most_retries": 3.0}),
        ("{counts: workers.requests in flight, at_most: 40, when_full: reject}", {"breaker": 40.0}),
    ],
)
def test_limits_of_sends_in_flight(limit: str, route: dict[str, object]) -> None:
    found = made(RETRYING + f"limits:\n  cap: {limit}\n").program.routes[0]
    assert {name: getattr(found, name) for name in route} == route


def test_a_limit_that_several_calls_share_is_kept_by_each_for_itself_and_said() -> None:
    workload = "  batch: {rate: 5 req/s, service: {mean: 40 ms, cv: 1}}\ncomponents:\n"
    call = RETRYING.splitlines()[-1].replace("clients", "batch")
    text = f"{RETRYING.replace('components:' + chr(10), workload)}{call}\n"
    text += "limits: {cap: {counts: workers in flight, at_most: 20, when_full: reject}}\n"
    result = made(text)
    assert [route.breaker for route in result.program.routes] == [20, 20]
    assert "cap is kept by each of clients -> workers, batch -> workers for itself" in result.assumptions
    assert "for itself" not in " ".join(made(text.replace(call, "")).assumptions)


def test_a_limit_of_what_waits_is_room() -> None:
    text = RETRYING + "limits: {buffer: {counts: workers.backlog, at_most: 200 req, when_full: reject}}\n"
    assert made(text).program.stations[0].room == 200.0


def test_pauses_and_deadlines() -> None:
    text = RETRYING.replace(
        "tries: 3,", "tries: [3, 2], deadline: 1 s, pause: {base: 25 ms, cap: 100 ms, factor: 3, jitter: full},"
    )
    route = made(text).program.routes[0]
    assert (route.tries, route.deadline) == (6, 1.0)
    assert route.pause == RetryPause(0.025, 3.0, 0.1, (0.0, 1.0))


def test_a_try_without_its_own_limit_has_the_deadline() -> None:
    assert made(RETRYING.replace("per_try: 250 ms", "deadline: 2 s")).program.routes[0].per_try == 2.0


def test_a_chain_of_calls_holds_the_server_in_the_middle() -> None:
    text = """\
coherence: 1
workload: {users: {rate: 10 req/s, service: {mean: 40 ms, cv: 1}}}
components: {app: {copies: 8}, db: {copies: 4}}
calls:
  - {from: users, to: app}
  - {from: app, to: db, tries: 2, per_try: 1 s, on_timeout: cancel}
"""
    found = made(text)
    app, db = found.program.stations
    assert app.plan == (("app -> db",),)
    assert app.service.mean == 0.0
    assert db.service == Service(0.04)
    assert "app only passes requests on: it takes no time" in found.assumptions
    kept = "a member of app works on one request at a time, and is kept by it until what it calls has ended"
    assert kept in found.assumptions


def test_queues_in_a_row_are_gone_through_in_order() -> None:
    text = """\
coherence: 1
workload: {prompts: {rate: 20 req/s}}
components:
  first:  {uses: queue, arrivals: prompts.attempts, served_by: fast}
  second: {uses: queue, arrivals: first.served, served_by: slow}
  fast: {uses: replica_pool, rate_per_replica: 10 req/s, takes: {start: 60 s}}
  slow: {uses: replica_pool, rate_per_replica: 5 req/s, takes: {start: 60 s}}
loops:
  a:
    uses: kubernetes_hpa
    target: {signal: first.utilization, setpoint: 70 %}
    actuation: {signal: fast.desired, bounds: [1, 9], from: 3}
  b:
    uses: kubernetes_hpa
    target: {signal: second.utilization, setpoint: 70 %}
    actuation: {signal: slow.desired, bounds: [1, 9]}
"""
    found = made(text)
    assert found.program.sources[0].plan == (("prompts -> first",), ("prompts -> second",))
    assert [station.servers for station in found.program.stations] == [3, 1]
    assert found.scaled == {"first": "fast.ready", "second": "slow.ready"}


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (", on_timeout: abandon", "", "on_timeout"),
        ("rate: 50 req/s", "rate: 0 req/s", "no arrivals"),
        (", service: {mean: 40 ms, cv: 1}", "", "how long a service of workers takes"),
        ("components:\n  workers: {copies: 4}\n", "", "nothing says how many workers are"),
    ],
)
def test_what_is_missing_is_asked_for_by_name(old: str, new: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as caught:
        made(RETRYING.replace(old, new))
    assert all(problem.remedy for problem in caught.value.problems)


def test_everything_missing_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        made(RETRYING.replace(", on_timeout: abandon", "").replace(", service: {mean: 40 ms, cv: 1}", ""))
    assert len(caught.value.problems) == 2


def test_a_design_without_requests_says_what_would_make_them() -> None:
    design = read_text("coherence: 1\nworkload: {clients: {rate: 1 req/s}}\n", "design.yaml")
    assert not has_requests(design)
    with pytest.raises(InputError, match="no workload reaches a component"):
        processes(design)


def test_unlimited_tries_and_no_limits_are_finite_programs() -> None:
    route = made(RETRYING.replace("tries: 3", "tries: unlimited")).program.routes[0]
    assert route.tries >= 10**9
    assert math.isinf(route.breaker)


def test_an_agent_takes_turns_of_its_model_and_its_tool() -> None:
    text = """\
coherence: 1
workload: {tasks: {rate: 2 req/s}}
components:
  agent:
    uses: agent_loop
    turns: 3
    first_tokens: 1000 token
    tokens_per_turn: 500 token
    model_time: 2 s
    tool_time: 1 s
    model_servers: 40
calls: [{from: tasks, to: agent}]
"""
    program = made(text).program
    model, tool = ("agent -> agent.model",), ("agent -> agent.tool",)
    assert program.sources[0].plan == (model, tool, model, tool, model, tool, model)
    assert {station.name: station.servers for station in program.stations}["agent.model"] == 40
    assert all(route.station.startswith("agent.") for route in program.routes)
