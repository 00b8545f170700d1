"""Where runs begin: at rest where the design leaves it open and a run comes to rest, beside closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.simulate.serving.trace import ArrivalTrace
from coherence.simulate.study.initial_state import InitialState, initial_state
from coherence.simulate.study.recording import telemetry
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import processes_of, study
from coherence.simulate.study.setting import Setting
from tests.draws import few
from tests.paths import SPECS

F = Fraction
AUTOSCALER = """\
coherence: 1
workload: {requests: {rate: 400 req/s}}
components:
  gateway: {uses: queue, arrivals: requests.attempts, served_by: pool}
  pool: {uses: replica_pool, takes: {start: 6 s}, rate_per_replica: 50 req/s}
loops:
  autoscaler:
    target: {signal: gateway.utilization, setpoint: 50 %, tolerance: 5 %}
    timescale: {period: 10 s}
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64]}
"""
SWINGING = """\
coherence: 1
workload: {web: {rate: 98 req/s}}
components:
  pool:
    rate_per_replica: 40 req/s
    boot: 1.7 s
    ready: min(pool.replicas, delayed(pool.replicas, pool.boot))
    usage: web.attempts / (pool.ready * pool.rate_per_replica)
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: pool.usage, setpoint: 50 %, sensor: [scrape 1 s, mean 7 s]}
    timescale: {period: 2 s, phase: 500 ms, hold_down: 0 s}
    actuation: {signal: pool.replicas, bounds: [1, 12], rate: [{by: 4, percent: 100 %, per: 2 s, way: up}]}
"""


def begins(text: str, setting: Setting | None = None) -> InitialState:
    design = read_text(text, "d.yaml")
    return initial_state(design, processes_of(design), setting or Setting(60.0))


def value(run: Study, of: str, what: str) -> float:
    return next(reading.value for reading in run.readings if (reading.of, reading.what) == (of, what))


# -- over requests ------------------------------------------------------------------------------------


def test_an_autoscaler_begins_at_the_members_that_its_target_asks_for() -> None:
    found = begins(AUTOSCALER)
    assert found.values == {"pool.desired": 16}  # 400 / (50 * 50 %)
    assert found.notes == ("runs begin at rest: pool.desired = 16 replica; --set PATH=VALUE tells another start",)


@pytest.mark.slow
@settings(max_examples=few(40), deadline=None)
@example(947, 30, "utilization")  # read as 0.2959375, half-way between two millionths
@given(st.integers(60, 1200), st.sampled_from([30, 40, 50, 60, 75, 80]), st.sampled_from(["utilization", "busy"]))
def test_rest_is_where_the_closed_form_says(rate: int, percent: int, signal: str) -> None:
    """A proportional law without tolerance wants ceil(load / target), whatever there is, within its bounds."""
    text = AUTOSCALER.replace("400 req/s", f"{rate} req/s").replace("50 %, tolerance: 5 %", f"{percent} %")
    text = text.replace("gateway.utilization", f"gateway.{signal}")
    wanted = F(rate, 50) / F(percent, 100)
    assume(wanted % 1)  # readings are rounded to a millionth: a whole number wanted may become one more
    least = max(4, rate // 50 + 1)  # fewer are all busy under any load: what is wanted is then met in steps
    text = text.replace("[4, 64]", f"[{least}, 100]")
    assert begins(text).values == {"pool.desired": max(least, math.ceil(wanted))}


def test_a_start_that_is_told_is_kept() -> None:
    assert begins(AUTOSCALER.replace("64]", "64], from: 10")) == InitialState({})
    assert begins(AUTOSCALER, Setting(60.0, values={"pool.desired": F(7)})) == InitialState({})


@pytest.mark.slow
def test_what_no_number_of_members_can_serve_does_not_rest() -> None:
    found = begins(AUTOSCALER.replace("400 req/s", "4000 req/s"))
    assert found.values == {}
    assert found.notes[0].startswith(
        "runs begin at the lower ends of what is open (no rest was found): pool.desired = 4"
    )


def test_of_replayed_arrivals_nothing_says_under_which_load_the_design_had_rested() -> None:
    trace = {"requests": ArrivalTrace((0.0, 1.0, 2.0))}
    found = begins(AUTOSCALER, Setting(60.0, trace=trace))
    assert found.values == {}
    assert "(its arrivals are replayed): pool.desired = 4" in found.notes[0]


def test_the_rest_is_that_of_the_mean_of_a_load_that_switches() -> None:
    switched = (
        "rate: 400 req/s, arrivals: {switches: [{rate: 100 req/s, lasts: 1 min}, {rate: 500 req/s, lasts: 3 min}]}"
    )
    assert begins(AUTOSCALER.replace("rate: 400 req/s", switched)).values == {"pool.desired": 16}


@pytest.mark.slow
def test_a_run_from_rest_has_the_servers_from_the_beginning_and_writes_next_to_nothing() -> None:
    setting = Setting(60.0, seeds=(1, 2, 3))
    rests = study(read_text(AUTOSCALER.replace("tolerance: 5 %", "tolerance: 20 %"), "d.yaml"), setting)
    low = AUTOSCALER.replace("tolerance: 5 %", "tolerance: 20 %").replace("64]", "64], from: 4")
    climbs = study(read_text(low, "d.yaml"), setting)
    assert (value(rests, "gateway", "servers"), value(rests, "autoscaler", "writes")) == (16, 0)
    assert value(climbs, "autoscaler", "writes") > 0
    assert value(climbs, "gateway", "waiting") > 100 > value(rests, "gateway", "waiting")
    assert any(note.startswith("runs begin at rest: pool.desired = 16") for note in rests.assumptions)
    assert not any("runs begin" in note for note in climbs.assumptions)


def test_what_is_written_of_a_run_begins_where_the_run_does() -> None:
    design = read_text(AUTOSCALER, "d.yaml")
    assert telemetry(design, Setting(20.0, seeds=(1,)))["pool.desired"].values[0] == 16


# -- loops alone --------------------------------------------------------------------------------------


def test_a_loop_that_swings_begins_where_it_did_and_says_so() -> None:
    """It has an equilibrium, at 5 replicas; a run that began there would hide the swings around it."""
    found = begins(SWINGING)
    assert found.values == {}
    assert "(no rest was found): pool.replicas = 1" in found.notes[0]
    calm = begins(SWINGING.replace("sensor: [scrape 1 s, mean 7 s]", "sensor: [scrape 1 s]").replace("1.7 s", "0.2 s"))
    assert calm.values == {"pool.replicas": 5}  # ceil(98 / 40 / 50 %)


def test_a_run_of_loops_alone_from_rest_stays_there() -> None:
    text = SWINGING.replace("sensor: [scrape 1 s, mean 7 s]", "sensor: [scrape 1 s]").replace("1.7 s", "0.2 s")
    run = study(read_text(text, "d.yaml"), Setting(60.0))
    assert {value(run, "pool.replicas", what) for what in ("mean", "least", "most", "last")} == {5}
    assert value(run, "hpa", "writes") == 0


def test_a_design_without_loops_has_nothing_to_begin_at() -> None:
    text = "coherence: 1\nworkload: {w: {rate: 9 req/s, service: {mean: 100 ms}}}\n"
    assert begins(text + "components: {s: {copies: 1}}\ncalls: [{from: w, to: s}]\n") == InitialState({})


def test_a_loop_that_reads_what_nothing_says_has_no_rest() -> None:
    text = AUTOSCALER.replace("gateway.utilization", "pool.load")
    assert begins(text.replace("rate_per_replica:", "load: pool.other, rate_per_replica:")).values == {}


@pytest.mark.slow
def test_a_rest_outside_the_stated_starts_is_none_to_begin_at() -> None:
    """The shipped design rests at 75 kW and states that it starts below 60 kW."""
    text = (SPECS / "throttle-backfill-repaired" / "design.yaml").read_text()
    assert begins(text).values == {}
    assert begins(text).notes[0].startswith("runs begin at the lower ends of what is open (no rest was found): power.p")
    wider = begins(text.replace("from: 0 kW .. 60 kW", "from: 0 kW .. 80 kW"))
    assert wider.values == {"power.p": 75_000}


def test_a_plant_without_loops_begins_at_its_lower_end_and_says_so() -> None:
    text = """coherence: 1\ncomponents: {plant: {state: "x' = 0.5 * x", step: 1 s, from: 2 .. 9}}\n"""
    low = (
        "runs begin at the lower ends of what is open (no loop acts): plant.x = 2; --set PATH=VALUE tells another start"
    )
    assert study(read_text(text, "d.yaml"), Setting(60.0)).assumptions == (low,)
    assert begins(text.replace("2 .. 9", "2")).notes == ()
