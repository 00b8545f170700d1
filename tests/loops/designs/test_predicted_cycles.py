"""Predicted cycles of designs against the execution of the same designs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.loops.cycles.flows import ShapeError, elements_of
from coherence.loops.cycles.relay import Pieces, Staircase
from coherence.loops.designs.predicted_cycles import CycleReading, predicted_cycles
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, Model
from coherence.simulate.execute import exact, hybrid
from coherence.simulate.execute.exact import Choices


def model(text: str) -> Model:
    return elaborate(read_text(f"coherence: 1\n{text}"))


def flowing(flow: str, start: float = 0.5) -> Model:
    return model(f'components:\n  a: {{state: "x\' = {flow}", from: {start}}}\n')


def only(made: Model) -> CycleReading:
    (reading,) = predicted_cycles(made)
    return reading


def executed(design: Model, path: str, period: float, after: float) -> tuple[float, float, float]:
    """(difference of two laps a period apart, lowest, highest) of a hybrid run after some seconds."""
    run = hybrid.execute(design, Choices(), until=Fraction(after + 2 * period).limit_denominator(10**6))
    times = after + period * np.arange(800) / 800
    now, later = (np.array([float(run.at(float(t) + late)[path]) for t in times]) for late in (0.0, period * 0.9999))
    return float(np.max(np.abs(now - later))), float(now.min()), float(now.max())


TANK = """components:
  tank: {state: "level' = (0.3 - tank.drain) / 1 s", from: 0}
loops:
  valve:
    timescale: {period: 1 s, lands: 2 s}
    rules:
      - {when: "delayed(tank.level, 3 s) > 2", to: 1}
      - {when: "delayed(tank.level, 3 s) < 1", to: 0}
    actuation: {signal: tank.drain, bounds: [0, 1], from: 0}
"""
ROOM = """components:
  room: {state: "temp' = (10 - room.temp + (15 if thermostat else 0)) / 300 s", from: 12}
loops:
  thermostat:
    timescale: {period: 60 s}
    trigger: {enter: "delayed(room.temp, 60 s) < 18", leave: "delayed(room.temp, 60 s) > 20"}
    actuation: {signal: room.lamp, law: set, to: 1, bounds: [0, 1], from: 0}
"""
REPLICAS = """components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: "delayed(web.usage, 30 s)", setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 150}
"""


def test_a_sampled_relay_over_an_integrator_equals_the_exact_run() -> None:
    tank = model(TANK)
    reading = only(tank)
    assert (reading.verdict, reading.confirmed) == ("cycle", True)
    assert reading.duty == pytest.approx(0.3)
    instants = exact.execute(tank, until=Fraction(400))
    levels = {i.time: i.sampled["tank.level"] for i in instants}
    period = Fraction(reading.period or 0)
    late = [t for t in levels if 200 <= t < 200 + period]
    assert all(levels[t] == levels[t + period] for t in late)
    assert not any(all(levels[t] == levels[t + shift] for t in late) for shift in range(1, int(period)))
    assert {p: (a, b) for p, a, b in reading.ranges}["tank.level"] == pytest.approx(
        (float(min(levels[t] for t in late)), float(max(levels[t] for t in late)))
    )


def test_a_thermostat_over_a_lag_equals_the_hybrid_run() -> None:
    room = model(ROOM)
    reading = only(room)
    assert (reading.verdict, reading.confirmed) == ("cycle", True)
    assert reading.attracts
    apart, low, high = executed(room, "room.temp", reading.period or 0.0, 1600.0)
    assert apart <= 5e-3 * (high - low)
    _, below, above = reading.ranges[0]
    assert (below, above) == pytest.approx((low, high), abs=5e-3 * (high - low))


def test_replicas_with_two_periods_of_delay_swing_every_eight() -> None:
    reading = only(model(REPLICAS))
    assert (reading.verdict, reading.period, reading.confirmed) == ("cycle", 120.0, True)


def test_a_hold_of_decreases_brings_replicas_to_rest() -> None:
    reading = only(model(REPLICAS.replace("period: 15 s", "period: 15 s, hold_down: 60 s")))
    assert reading.verdict == "none"


@pytest.mark.parametrize(
    ("flow", "period"),
    [
        ("-0.05 * (1 if delayed(a.x, 30 s) > 0 else -1) / 1 s", 120.0),
        ("(0.4 - ceil(delayed(a.x, 1 s))) / 1 s", 1 / 0.4 + 1 / 0.6),
        ("-1.2 * floor(delayed(a.x, 1 s) + 0.5) / 1 s", 4.0),  # starts on a threshold
    ],
)
def test_flows_that_switch_have_their_closed_forms(flow: str, period: float) -> None:
    reading = only(flowing(flow))
    assert (reading.verdict, reading.confirmed) == ("cycle", True)
    assert reading.period == pytest.approx(period, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flow", "laps"),
    [
        ("(0.3 - max(-1, min(1, 3 * delayed(a.x, 1 s)))) / 1 s", 20),
        # its kinks come back after every delay: instants are those that are not smooth yet
        ("(-a.x - 3.2 * max(-1, min(1, 0 if abs(delayed(a.x, 1 s)) < 0.2 else delayed(a.x, 1 s)))) / 1 s", 6),
    ],
)
def test_delayed_kinks_equal_the_hybrid_run(flow: str, laps: int) -> None:
    design = flowing(flow)
    reading = only(design)
    assert (reading.verdict, reading.confirmed) == ("cycle", True)
    apart, low, high = executed(design, "a.x", reading.period or 0.0, laps * (reading.period or 0.0))
    assert apart <= 5e-3 * (high - low)
    _, below, above = reading.ranges[0]
    assert (below, above) == pytest.approx((low, high), abs=5e-3 * (high - low))


def test_a_low_gain_rests() -> None:
    assert only(flowing("(-a.x - 0.5 * max(-1, min(1, delayed(a.x, 1 s)))) / 1 s")).verdict == "none"


@pytest.mark.slow
def test_what_the_method_cannot_carry_is_undecided_with_its_reason() -> None:
    product = only(flowing("(1 - a.x * max(0, delayed(a.x, 1 s))) / 1 s"))
    assert product.verdict == "undecided"
    assert "rest" in product.reason
    window = only(model(TANK.replace("delayed(tank.level, 3 s) > 2", "mean_over(tank.level, 3 s) > 2")))
    assert window.verdict == "undecided"
    assert "mean over 3 s" in window.reason
    missing = only(model(TANK.replace(", from: 0}\nloops", "}\nloops")))
    assert missing.verdict == "undecided"
    assert "tank.level" in missing.reason


def test_a_bound_that_the_cycle_passes_contradicts_the_prediction() -> None:
    made = flowing("-0.05 * (1 if delayed(a.x, 30 s) > 0 else -1) / 1 s")
    state = replace(made.states["a.x"], range=Interval(Fraction(-1), Fraction(1)))
    reading = only(replace(made, states={"a.x": state}))
    assert reading.verdict == "undecided"


@pytest.mark.slow
def test_a_pending_command_is_no_rest() -> None:
    """Nothing moves while the first write is on its way; the cycle begins when it lands."""
    text = """components:
  tank: {state: "level' = tank.fill / 1 s", from: 0}
loops:
  valve:
    timescale: {period: 1 s, lands: 40 s}
    rules:
      - {when: tank.level >= 2, to: -1}
      - {when: tank.level <= 0, to: 1}
    actuation: {signal: tank.fill, bounds: [-1, 1], from: 0}
"""
    reading = only(model(text))
    assert reading.confirmed
    assert reading.verdict == "cycle"


def test_flows_without_loops_or_kinks_have_no_reading() -> None:
    assert predicted_cycles(flowing("(1 - a.x) / 2 s")) == ()


def test_elements_are_read_from_expressions() -> None:
    def element(flow: str) -> Pieces | Staircase:
        return elements_of(flowing(flow), ["a.x"], {}).system.elements[0]

    clamp = element("max(-1, min(2, 3 * delayed(a.x, 1 s))) / 1 s")
    assert isinstance(clamp, Pieces)
    assert list(clamp.knots) == pytest.approx([-1 / 3, 2 / 3])
    assert list(clamp.slopes) == [0, 3, 0]
    window = element("(1 if delayed(a.x, 1 s) > -1 and delayed(a.x, 1 s) < 1 else 0) / 1 s")
    assert (getattr(window, "levels", ()), getattr(window, "up", ())) == ((0, 1, 0), (-1, 1))


def test_an_element_of_two_delays_is_refused() -> None:
    with pytest.raises(ShapeError, match="another delay"):
        elements_of(flowing("max(0, a.x - delayed(a.x, 1 s)) / 1 s"), ["a.x"], {})


def test_rounding_becomes_an_endless_staircase() -> None:
    (rounded,) = elements_of(flowing("floor(delayed(a.x, 1 s) + 0.5) / 1 s"), ["a.x"], {}).system.elements
    assert isinstance(rounded, Staircase)
    assert rounded.endless
    assert {0.5, -0.5, 1.5} <= set(rounded.up)
