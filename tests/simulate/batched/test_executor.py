"""Many points at once: every point is the exact run of that point, to float rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.batched.executor import BatchedRun, execute_many, point, standing
from coherence.simulate.execute.exact import Choices, Schedule, execute
from tests.draws import few

F = Fraction
FEED = """
coherence: 1
components:
  power: {{h: 0 kW .. 200 kW, state: "p' = 0.8 * p + 0.2 * (10 kW + batch.load)", step: 1 s, from: 0 kW .. 200 kW}}
loops:
  throttle:
    rank: 1
    timescale: {{period: 1 s{lands}}}
    trigger: {{enter: p >= 80 kW, leave: p <= 60 kW}}
    actuation: {{}}
  backfill:
    rank: 2
    timescale: {{period: 1 s{lands}{more}}}
    rules: [{{when: throttle{held}, by: -20 kW}}, {{when: p < power.h, by: 5 kW}}]
    actuation: {{signal: batch.load, bounds: [0 kW, 200 kW], from: 0 kW}}
"""
SCALER = """
coherence: 1
components: {{web: {{load: 1 .. 1000, usage: load / replicas}}}}
loops:
  hpa:
    timescale: {{period: 15 s{times}}}
    target: {{signal: "{signal}", setpoint: {setpoint}, tolerance: 10 %{sensor}}}
    actuation: {{signal: web.replicas, law: proportional, bounds: [2, 5000], from: 1 .. 9999{actuation}}}
"""
RATES = (
    ", rate: [{by: 4, per: 60 s, way: up}, {percent: 100 %, per: 30 s, way: up}, {percent: 10 %, per: 60 s, way: down}]"
)


def feed(lands: str = "", more: str = "", held: str = "") -> Model:
    return elaborate(read_text(FEED.format(lands=lands, more=more, held=held)))


def scaler(signal: str = "web.usage", setpoint: str = "0.5", sensor: str = "", times: str = "", act: str = "") -> Model:
    text = SCALER.format(signal=signal, setpoint=setpoint, sensor=sensor, times=times, actuation=act)
    return elaborate(read_text(text))


def same(model: Model, points: Mapping[str, Sequence[Fraction]], until: int, schedule: Schedule = ()) -> BatchedRun:
    """Every point against its exact run."""
    shared = Choices(schedule=schedule)
    batch = execute_many(model, points, until=F(until), choices=shared)
    for j in range(len(next(iter(points.values())))):
        wanted = execute(model, point(points, shared, j), until=F(until))
        assert {i.time for i in wanted} <= set(batch.times)
        seen = [wanted[i] for i in standing([i.time for i in wanted], batch.times)]
        for path, levels in batch.series.items():
            exact = np.array([float(i.after[path]) for i in seen])
            assert np.allclose(levels[:, j], exact, rtol=1e-9, atol=1e-7), (path, j)
    return batch


watts = st.integers(0, 120_000).map(F)
many_watts = st.lists(watts, min_size=4, max_size=4)


@pytest.mark.slow
@settings(max_examples=few(8), deadline=None)
@given(many_watts, many_watts, st.sampled_from(["", ", lands: 1 s", ", lands: 2500 ms"]))
def test_throttle_and_backfill_over_thresholds_and_starts(h: list[Fraction], p: list[Fraction], lands: str) -> None:
    same(feed(lands), {"power.h": h, "power.p": p}, 60)


@settings(max_examples=few(8), deadline=None)
@given(many_watts, st.sampled_from(["cooldown: 3 s", "hold_up: 4 s", "hold_down: 3 s"]), st.booleans())
def test_throttle_and_backfill_with_memory(h: list[Fraction], memory: str, held: bool) -> None:
    same(feed(more=f", {memory}", held=" for 2 s" if held else ""), {"power.h": h, "power.p": [F(0)] * 4}, 60)


counts = st.lists(st.integers(1, 900).map(F), min_size=4, max_size=4)


@settings(max_examples=few(20), deadline=None)
@given(
    counts,
    counts,
    st.integers(0, 3),
    st.sampled_from(["0.5", "0.3", "0.77"]),
    st.sampled_from(["", ", hold_down: 45 s", ", hold_up: 30 s", ", cooldown: 45 s", ", lands: 20 s"]),
    st.sampled_from(["", RATES, ", count: commanded"]),
)
def test_the_autoscaler_over_loads_starts_delays_gains_and_memory(
    load: list[Fraction], start: list[Fraction], delay: int, setpoint: str, times: str, act: str
) -> None:
    signal = f"delayed(web.usage, {15 * delay} s)" if delay else "web.usage"
    same(scaler(signal, setpoint, times=times, act=act), {"web.load": load, "web.replicas": start}, 300)


@settings(max_examples=10, deadline=None)
@given(counts, st.sampled_from(["[scrape 30 s, mean 1 min]", "[scrape 7 s, max 40 s]", "[mean 50 s]"]))
def test_sensor_chains_over_loads(load: list[Fraction], sensor: str) -> None:
    made = scaler(sensor=f", sensor: {sensor}")
    same(made, {"web.load": load, "web.replicas": [F(120)] * 4}, 300)


def test_a_schedule_is_common_to_all_points() -> None:
    schedule = ((F(40), "web.load", F(100)), (F(70), "web.load", F(700)))
    same(scaler(), {"web.load": [F(50), F(60)], "web.replicas": [F(100), F(300)]}, 120, schedule)


def test_at_the_edge_floats_are_not_trusted() -> None:
    """p tends to 80 kW and never gets there; a float run does, and is run again exactly (no throttle for ever)."""
    h = [F(30_000), F(56_000), F(85_000)]
    batch = same(feed(), {"power.h": h, "power.p": [F(0)] * 3}, 250)
    assert 1 in batch.again
    assert not batch.series["throttle"][:, :2].any()
    assert batch.series["throttle"][:, 2].any()


def test_a_tie_is_decided_exactly() -> None:
    text = FEED.format(lands="", more="", held="").replace("0.8 * p + 0.2 * (10 kW + batch.load)", "p + 0.1 * power.h")
    made = elaborate(read_text(text))
    same(made, {"power.h": [F(80_000), F(79_999)], "power.p": [F(0), F(0)]}, 30)


def test_a_division_by_zero_is_what_the_exact_run_says() -> None:
    made = elaborate(
        read_text('coherence: 1\ncomponents: {a: {k: 0 .. 1, state: "x\' = 1 / k", step: 1 s, from: 1}}\n')
    )
    with pytest.raises(NotExactError, match="division by zero"):
        execute_many(made, {"a.k": [F(1), F(0)]}, until=F(3))


def test_where_something_flows_each_point_keeps_its_own_clock() -> None:
    text = 'coherence: 1\ncomponents: {a: {k: 1 .. 9, state: "x\' = (1 if a.x < k else 0) / 1 s", from: 0}}\n'
    batch = execute_many(elaborate(read_text(text)), {"a.k": [F(2), F(5)]}, until=F(10))
    assert batch.times[-1] == 10
    assert [float(x) for x in batch.series["a.x"][-1]] == [2, 5]
