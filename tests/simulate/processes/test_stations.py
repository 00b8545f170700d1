"""Stations: each request is served by the service of its own workload."""

from __future__ import annotations

import math
import re

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import RequestRun
from coherence.simulate.requests.program import Service
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

TWO = """\
coherence: 1
workload:
  web: {rate: 10 req/s, service: {mean: 10 ms, cv: 0}}
  batch: {rate: 0.1 req/s, service: {mean: 2 s, cv: 0}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}, {from: batch, to: s}]
"""


def test_two_workloads_at_one_station_have_their_own_services() -> None:
    (station,) = processes(read_text(TWO, "d.yaml")).program.stations
    assert station.by_source == {"web": Service(0.01, "constant", 0.0), "batch": Service(2.0, "constant", 0.0)}
    assert station.service.mean == pytest.approx((10 * 0.01 + 0.1 * 2) / 10.1)


def test_no_request_is_faster_than_its_own_service_and_all_wait_as_pollaczek_and_khinchine_say() -> None:
    run = RequestRun(processes(read_text(TWO, "d.yaml")).program, seed=3)
    run.advance(40_000.0)
    done = run.result().requests
    took = done.end - done.start
    assert took[done.source == 0].min() == pytest.approx(0.01)
    assert took[done.source == 1].min() == pytest.approx(2.0)
    waits = [took[done.source == number].mean() - mean for number, mean in ((0, 0.01), (1, 2.0))]
    # W = lambda E[S^2] / (2 (1 - rho)); SOURCE: Kleinrock, Queueing Systems I, (5.69)
    assert waits == pytest.approx([(10 * 0.01**2 + 0.1 * 2**2) / (2 * (1 - 0.3))] * 2, rel=0.06)


def test_a_stated_capacity_scales_the_services_of_all_alike() -> None:
    text = TWO.replace("copies: 1", "capacity: 100 req/s")
    (station,) = processes(read_text(text, "d.yaml")).program.stations
    scale = station.service.mean / ((10 * 0.01 + 0.1 * 2) / 10.1)
    assert station.by_source["batch"].mean == pytest.approx(2.0 * scale)
    assert station.service.mean == pytest.approx(station.servers / 100)


@pytest.mark.parametrize(
    ("capacity", "mean", "servers"), [(100, "10 ms", 1), (100, "4 ms", 1), (100, "14 ms", 1), (250, "20 ms", 5)]
)
def test_a_stated_capacity_is_made_of_whole_servers_one_at_least(capacity: int, mean: str, servers: int) -> None:
    text = f"""coherence: 1
workload: {{web: {{rate: 10 req/s, service: {{mean: {mean}, cv: 0}}}}}}
components: {{s: {{capacity: {capacity} req/s}}}}
calls: [{{from: web, to: s}}]
"""
    (station,) = processes(read_text(text, "d.yaml")).program.stations
    assert station.servers == servers
    assert station.servers / station.service.mean == pytest.approx(capacity)


def test_one_workload_keeps_one_service() -> None:
    text = TWO.replace("  batch: {rate: 0.1 req/s, service: {mean: 2 s, cv: 0}}\n", "").replace(
        ", {from: batch, to: s}", ""
    )
    (station,) = processes(read_text(text, "d.yaml")).program.stations
    assert not station.by_source


@pytest.mark.parametrize(("rate", "mean"), [("4 req/s", 0.25), ("2 * k * 1 req/s", 0.25), ("0.5 * 8 req/s", 0.25)])
def test_what_a_member_serves_is_run_also_where_an_expression_states_it(rate: str, mean: float) -> None:
    text = TWO.replace("copies: 1", f"copies: 1, k: 2, rate_per_copy: {rate}")
    (station,) = processes(read_text(text, "d.yaml")).program.stations
    assert station.service == Service(mean)


@pytest.mark.parametrize("rate", ["5 s", "0 req/s", "1/2 req/s", "heat * 1 req/s"])
def test_a_rate_of_a_member_that_is_none_is_refused(rate: str) -> None:
    text = TWO.replace("copies: 1", f"copies: 1, heat: s.load, rate_per_copy: {rate}")
    with pytest.raises(InputError, match=f"`rate_per_copy: {re.escape(rate)}` of s is no rate"):
        processes(read_text(text, "d.yaml"))


def test_a_time_of_its_own_beside_the_service_of_workloads_is_told() -> None:
    text = TWO.replace("copies: 1", "copies: 1, takes: {serve: 60 s}")
    assert any("not for its own (60 s)" in note for note in processes(read_text(text, "d.yaml")).assumptions)


@pytest.mark.parametrize(
    ("most", "room"), [("3", 3.0), ("3, but_at_least: 7", 7.0), ("3 * 3", 9.0), ("9, but_at_least: 7", 9.0)]
)
def test_the_room_of_a_queue_is_the_larger_of_cap_and_floor(most: str, room: float) -> None:
    text = f"{TWO}limits: {{q: {{counts: s.waiting, at_most: {most}, when_full: reject}}}}\n"
    (station,) = processes(read_text(text, "d.yaml")).program.stations
    assert station.room == room


SLOTS = """\
coherence: 1
workload: {{chat: {{rate: 30 req/s, service: {{mean: 1 s}}}}}}
components: {{node: {copies}}}
calls: [{{from: chat, to: node, per_try: 3 s, tries: 2, on_timeout: cancel}}]
{rest}
"""
LOOP = """\
loops:
  out:
    trigger: node.backlog > 3
    timescale: {{period: 10 s}}
    actuation: {{signal: node.desired, law: step, by: {by}, from: {by}, bounds: [{by}, {most}]}}
"""
LIMIT = "limits: {slots: {counts: node.ongoing, at_most: 8, per: replica, when_full: wait}}\n"


@pytest.mark.parametrize(
    ("member", "server"),
    [
        (SLOTS.format(copies="{copies: 4}", rest=LIMIT), SLOTS.format(copies="{copies: 32}", rest="")),
        (
            SLOTS.format(copies="{}", rest=LIMIT + LOOP.format(by=1, most=6)),
            SLOTS.format(copies="{}", rest=LOOP.format(by=8, most=48)),
        ),
    ],
    ids=["fixed", "scaled"],
)
def test_members_that_work_on_eight_at_once_run_as_eight_times_as_many(member: str, server: str) -> None:
    setting = Setting(until=60.0, warmup=0.0, seeds=(1, 2))
    several, single = (study(read_text(design, "d.yaml"), setting).readings for design in (member, server))
    assert [(r.of, r.what, r.value) for r in several] == [(r.of, r.what, r.value) for r in single]


def test_what_comes_where_all_are_busy_and_the_rest_is_refused_is_lost_as_erlang_says() -> None:
    text = """coherence: 1
workload: {events: {rate: 5 req/s, service: {mean: 1 s}}}
components: {function: {}}
calls: [{from: events, to: function}]
limits: {reserved: {counts: function.ongoing, at_most: 6, when_full: reject}}
"""
    readings = study(read_text(text, "d.yaml"), Setting(until=20_000.0, warmup=10.0, seeds=(1,))).readings
    succeed = next(reading.value for reading in readings if (reading.of, reading.what) == ("events", "succeed"))
    below = sum(5**k / math.factorial(k) for k in range(7))
    # Erlang's B formula; SOURCE: Kleinrock, Queueing Systems I, (3.43); 100,000 arrivals: 3 sigma are .4 %
    assert succeed == pytest.approx(100 * (1 - 5**6 / math.factorial(6) / below), abs=0.6)


OF_ALL = """coherence: 1
workload: {users: {rate: 100 req/s, service: {mean: 100 ms, cv: 0}}}
components: {app: {copies: 20}}
calls: [{from: users, to: app, deadline: 10 s, on_timeout: abandon}]
limits: {pool: {counts: app.ongoing, at_most: 8, when_full: reject}}
"""


def test_a_limit_on_the_work_of_all_members_is_kept_and_refuses_as_erlang_says() -> None:
    made = processes(read_text(OF_ALL, "d.yaml"))
    (station,) = made.program.stations
    assert station.servers == 8
    assert "pool lets 8 requests of app be in work at once" in made.assumptions
    run = RequestRun(made.program, seed=1)
    run.advance(2_000.0)
    told = run.result().requests
    blocked = 1.0  # SOURCE: Erlang's loss formula by its recursion, at 10 erlangs; it holds whatever the service
    for servers in range(1, 9):
        blocked = 10 * blocked / (servers + 10 * blocked)
    assert (told.outcome != 0).mean() == pytest.approx(blocked, rel=0.02)


def test_members_that_a_limit_lets_work_on_nothing_serve_nobody() -> None:
    none = OF_ALL.replace("at_most: 8, when_full: reject", "at_most: 0, per: app")
    made = processes(read_text(none, "d.yaml"))
    assert [station.servers for station in made.program.stations] == [0]
    assert "pool lets no member of app work on a request" in made.assumptions


def test_a_limit_on_the_work_of_members_that_loops_count_says_that_it_is_not_run() -> None:
    scaled = OF_ALL.replace("{copies: 20}", "{}") + (
        "loops: {hpa: {timescale: {period: 15 s}, trigger: app.waiting > 3, "
        "actuation: {signal: app.copies, law: step, by: 1, bounds: [1, 20], from: 5}}}\n"
    )
    assert any(note.startswith("pool is not run: ") for note in processes(read_text(scaled, "d.yaml")).assumptions)
