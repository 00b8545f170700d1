"""Loops over requests: what they read of a run, what is cut out of the model, and the servers that they set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.base.reads import recorded
from coherence.language.entries.leaves import leaves
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.instants import Instant
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import RequestRun
from coherence.simulate.requests.program import Arrivals, Program, Route, Service, Source, Station
from coherence.simulate.study.loops_over_requests import Coupled, Meter, counted_levels, cut, ends_over_requests
from coherence.simulate.study.promises import PromiseWatch

F = Fraction
TWO = Program(
    (
        Source("web", Arrivals(rate=30.0), (("web -> app",),)),
        Source("jobs", Arrivals(rate=5.0), (("jobs -> app", "jobs -> db"),)),
    ),
    (Station("app", 4, Service(0.1)), Station("db", 2, Service(0.0))),
    (Route("web -> app", "app"), Route("jobs -> app", "app"), Route("jobs -> db", "db")),
)  # fmt: skip


def meter(*readings: tuple[Mapping[str, float], float]) -> Meter:
    seen = Meter(TWO)
    for levels, span in readings:
        seen.read(levels, span)
    return seen


# -- what is measured ---------------------------------------------------------------------------------


def test_a_rate_is_the_growth_of_a_counter_over_the_time_between_readings() -> None:
    seen = meter(({"web -> app.tries": 100.0}, 1.0), ({"web -> app.tries": 160.0}, 2.0))
    assert seen.rate("web -> app.tries") == 30


def test_before_anything_was_measured_first_tries_come_as_their_source_says() -> None:
    fresh = meter()
    assert fresh.rate("web -> app.tries") == 30
    assert fresh.arrivals("app") == 35
    assert fresh.rate("app.served") == 0


def test_what_comes_to_a_station_is_the_sum_over_its_routes() -> None:
    zero: dict[str, float] = {}
    seen = meter((zero, 1.0), ({"web -> app.tries": 50.0, "jobs -> app.tries": 10.0, "jobs -> db.tries": 7.0}, 2.0))
    assert (seen.arrivals("app"), seen.arrivals("db")) == (30, 3.5)


def test_levels_may_be_looked_at_between_readings_and_rates_stay() -> None:
    seen = meter(({"app.queue": 1.0, "app.served": 0.0}, 1.0), ({"app.queue": 2.0, "app.served": 8.0}, 1.0))
    seen.look({"app.queue": 9.0, "app.served": 99.0})
    assert (seen.levels["app.queue"], seen.rate("app.served")) == (9, 8)


def test_the_capacity_is_that_of_the_servers_that_there_are() -> None:
    assert meter(({"app.servers": 6.0}, 1.0)).capacity("app") == 60
    assert meter(({"db.servers": 6.0}, 1.0)).capacity("db") == 0  # no time of service: no capacity to speak of


# -- the cut ------------------------------------------------------------------------------------------

DESIGN = """\
coherence: 1
workload: {requests: {rate: 400 req/s}}
components:
  gateway: {uses: queue, arrivals: requests.attempts, served_by: pool}
  pool: {uses: replica_pool, takes: {start: 6 s}, rate_per_replica: 50 req/s}
loops:
  autoscaler:
    target: {signal: gateway.utilization, setpoint: 50 %, tolerance: 5 %}
    timescale: {period: 10 s}
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64], from: 10}
calls:
  - {from: requests, to: gateway, on_timeout: abandon}
"""


def test_what_requests_carry_out_becomes_a_measured_input() -> None:
    design = read_text(DESIGN)
    model, program = elaborate(design), processes(design).program
    loops = cut(model, program)
    taken = set(loops.measured)
    assert {"gateway.backlog", "gateway.utilization", "requests.attempts"} <= taken
    assert taken <= set(loops.model.inputs)
    assert not taken & (set(loops.model.outputs) | set(loops.model.states))
    assert taken <= set(model.outputs) | set(model.states)  # nothing that the model does not speak of
    kept = (set(model.outputs) | set(model.states)) - taken
    assert kept <= set(loops.model.outputs) | set(loops.model.states)


def test_of_numbers_and_expressions_only_those_are_read_that_a_loop_or_a_server_depends_on() -> None:
    spare = "  pool: {spare: 7, room: pool.desired * pool.spare, "
    design = read_text(DESIGN.replace("  pool: {", spare))
    flows = processes(design)
    with recorded() as reads:
        Coupled(design, flows, RequestRun(flows.program, seed=1)).advance(30)
    read = {leaf.key for leaf in leaves(design) if leaf.place in reads.all() and leaf.entry == "pool"}
    assert "takes.start" in read
    assert not read & {"spare", "room"}


def test_the_cut_model_has_an_instant_every_second() -> None:
    design = read_text(DESIGN)
    added = set(cut(elaborate(design), processes(design).program).model.states) - set(elaborate(design).states)
    (clock,) = added
    assert cut(elaborate(design), processes(design).program).model.states[clock].step == 1


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("arrivals", 40.0),
        ("backlog", 12.0),
        ("utilization", 40 / 500),  # of ten servers of 50 a second
        ("busy", 0.8),  # 16 server-seconds in two seconds of ten servers
        ("wait", 12 / 500),
        ("served", 35.0),
    ],
)
def test_every_signal_of_a_queue_is_measured(word: str, value: float) -> None:
    design = read_text(DESIGN)
    program = processes(design).program
    (route,) = program.routes
    loops, seen = cut(elaborate(design), program), Meter(program)
    seen.read({f"{route.name}.tries": 0.0, "gateway.busy_seconds": 4.0, "gateway.served": 30.0}, 1.0)
    levels = {"gateway.queue": 12.0, "gateway.servers": 10.0}
    seen.read({f"{route.name}.tries": 80.0, "gateway.busy_seconds": 20.0, "gateway.served": 100.0, **levels}, 2.0)
    assert loops.measured[f"gateway.{word}"](seen) == pytest.approx(value)


def test_the_attempts_of_a_workload_are_its_first_tries() -> None:
    design = read_text(DESIGN)
    program = processes(design).program
    seen = Meter(program)
    assert cut(elaborate(design), program).measured["requests.attempts"](seen) == 400


# -- runs ---------------------------------------------------------------------------------------------


def coupled(text: str = DESIGN) -> Coupled:
    design = read_text(text)
    requests = processes(design)
    return Coupled(design, requests, RequestRun(requests.program, seed=1), None)


def test_the_autoscaler_finds_the_servers_that_the_load_needs() -> None:
    """400 a second over 50 each at 50 %: 16 replicas, which serve 6 s after they are wanted."""
    loops = coupled()
    loops.advance(60.0)
    wanted = [instant.after["pool.desired"] for instant in loops.instants]
    assert wanted[0] == 16  # 400 / (10 * 50) = 80 %: ceil(10 * 0.8 / 0.5)
    assert abs(wanted[-1] - 16) <= 2  # the rate of one second scatters by a twentieth
    assert abs(loops.run.observe()["gateway.servers"] - 16) <= 2


def at_start(text: str, **values: int) -> Instant:
    """Returns the first instant, with values of `pool` fixed."""
    design = read_text(text)
    requests = processes(design)
    begins = {f"pool.{word}": F(value) for word, value in values.items()}
    loops = Coupled(design, requests, RequestRun(requests.program, seed=1), begins)
    loops.advance(0.0)
    return loops.instants[0]


@pytest.mark.parametrize("servers", [10, 20, 40])
def test_a_run_begins_with_the_servers_that_are_given(servers: int) -> None:
    """400 a second over 50 each at 50 % want 16, however many there are: ceil(n * (8 / n) / 0.5)."""
    first = at_start(DESIGN, desired=servers)
    assert first.sampled["gateway.utilization"] == F(8, servers)
    assert first.after["pool.desired"] == 16


@pytest.mark.parametrize(("servers", "busy", "served"), [(10, F(8, 10), 400), (16, F(1, 2), 400), (4, 1, 200)])
def test_servers_are_busy_from_the_beginning_as_the_load_makes_them(servers: int, busy: F, served: int) -> None:
    """A rate that was not counted yet is not none: a loop on `busy` went to its lower bound under any load."""
    first = at_start(DESIGN.replace("gateway.utilization", "gateway.busy"), desired=servers)
    assert first.sampled["gateway.busy"] == busy
    assert first.sampled["gateway.served"] == served


def test_a_loop_that_looks_back_sees_the_same_before_the_beginning() -> None:
    late = DESIGN.replace("tolerance: 5 %", "tolerance: 5 %, sensor: [mean 30 s]")
    assert at_start(late).after["pool.desired"] == 16


def test_a_station_that_is_called_on_has_its_load_from_the_beginning() -> None:
    behind = DESIGN.replace("requests, to: gateway", "requests, to: front") + (
        "  - {from: front, to: gateway, on_timeout: abandon}\n"
    )
    behind = behind.replace("components:", "components:\n  front: {copies: 100}")
    assert at_start(behind).sampled["gateway.utilization"] == F(16, 10)  # half of it through `front`


def test_a_replayed_load_is_there_from_the_beginning() -> None:
    design = read_text(DESIGN)
    requests = processes(design)
    (source,) = requests.program.sources
    times = tuple(number / 200 for number in range(200 * 90))
    replayed = replace(requests.program, sources=(replace(source, arrivals=Arrivals("trace", times=times)),))
    loops = Coupled(design, replace(requests, program=replayed), RequestRun(replayed, seed=1))
    loops.advance(0.0)
    assert loops.instants[0].sampled["gateway.utilization"] == pytest.approx(200 / 500, rel=1e-3)


def test_counts_of_a_run_have_the_words_of_promises() -> None:
    levels = counted_levels(processes(read_text(DESIGN)).program)
    meter = Meter(processes(read_text(DESIGN)).program)
    meter.look({"gateway.queue": 3.0, "gateway.present": 5.0, "gateway.servers": 4.0, "requests.in_flight": 7.0})
    words = ("gateway.waiting", "gateway.in_flight", "gateway.ready", "gateway.starting", "requests.in_flight")
    assert [levels[word](meter) for word in words] == [3.0, 5.0, 4.0, 0.0, 7.0]


def test_servers_come_when_they_have_started() -> None:
    loops = coupled()
    loops.advance(6.0)
    assert loops.run.observe()["gateway.servers"] == 10  # six seconds after the sample at 0, before its decision
    loops.advance(7.0)
    assert loops.run.observe()["gateway.servers"] == 16


def test_instants_are_those_of_loops_and_ticks_up_to_the_time() -> None:
    loops = coupled()
    loops.advance(3.5)
    assert [instant.time for instant in loops.instants] == [0, 1, 2, 3]
    assert loops.run.time == 3.5
    loops.advance(4.0)
    assert loops.instants[-1].time == 4


def test_faster_loops_are_measured_at_their_own_period() -> None:
    loops = coupled(DESIGN.replace("period: 10 s", "period: 500 ms"))
    assert loops.grain == F(1, 2)
    loops.advance(2.0)
    assert F(3, 2) in [instant.time for instant in loops.instants]
    assert loops.meter.span == 0.5


def test_measured_values_are_rounded_to_a_millionth() -> None:
    loops = coupled()
    loops.advance(5.0)
    for path in loops.cut.measured:
        assert (loops.execution.values[path] * 10**6).denominator == 1


def test_a_range_that_loops_read_is_named_with_the_value_that_runs_take() -> None:
    design = read_text(DESIGN.replace("setpoint: 50 %", "setpoint: 40 % .. 60 %"), "d.yaml")
    ends = ends_over_requests(design, processes(design), {}, PromiseWatch(design, 60.0))
    phase = "phase of autoscaler = 0 s, since none is stated"
    assert ends[1:] == (phase,)
    assert ends[0].endswith(" = 0.4, the lower end of 0.4 .. 0.6")
    path = ends[0].partition(" = ")[0]
    assert ends_over_requests(design, processes(design), {path: F(1, 2)}, PromiseWatch(design, 60.0)) == (phase,)
