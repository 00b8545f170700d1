"""Loops that switch without a period over lags: cycles in closed form, runs of the executor, and a plain integrator."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.checks import oscillation
from coherence.loops.designs.predicted_cycles import CycleReading, predicted_cycles, predicted_within
from coherence.model.crossings import at_crossings
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute import hybrid

ROOM = """
coherence: 1
components:
  room: {{state: "temp' = ({cold} - room.temp + {power} * (1 if heater else 0)) / {lag} s", from: {start}}}
loops:
  heater:
    trigger: {{enter: "delayed(room.temp, {late} s) < {low}", leave: "delayed(room.temp, {late} s) > {high}"}}
    actuation: {{signal: stove.on, law: set, to: 1, bounds: [0, 1], from: 0}}
"""
TANK = """
coherence: 1
components:
  tank: {{state: "level' = (1 - 3 * (1 if pump else 0)) / 1 s", from: 0}}
loops:
  pump:
    {clock}trigger: {{enter: "{enter}", leave: "{leave}"}}
    actuation: {{signal: pump.on, law: set, to: 1, bounds: [0, 1], from: 0}}
"""


def model_of(text: str) -> Model:
    return elaborate(read_text(text, "design.yaml"))


def only(text: str) -> CycleReading:
    (reading,) = predicted_cycles(model_of(text))
    return reading


def asked(text: str) -> Finding:
    (finding,) = oscillation.ask(Subject(read_text(text, "design.yaml"), {"design.yaml": text}, 20.0))
    return finding


def lag_cycle(cold: float, power: float, lag: float, late: float, low: float, high: float) -> tuple[float, ...]:
    """Returns (period, lowest, highest) of a delayed relay with hysteresis over a lag, in closed form."""
    warm, left = cold + power, math.exp(-late / lag)
    highest, lowest = warm - (warm - high) * left, cold + (low - cold) * left
    falls, rises = lag * math.log((highest - cold) / (low - cold)), lag * math.log((warm - lowest) / (warm - high))
    return falls + rises + 2 * late, lowest, highest


@pytest.mark.parametrize("late", [0, *(pytest.param(late, marks=pytest.mark.slow) for late in (5, 60, 400))])
def test_a_thermostat_over_a_lag_has_the_cycle_of_its_closed_form(late: int) -> None:
    numbers = {"cold": 10, "power": 15, "lag": 300, "late": late, "low": 18, "high": 20}
    text = ROOM.format(start=12, **numbers)
    reading, (period, lowest, highest) = only(text), lag_cycle(**numbers)
    assert reading.verdict == "cycle"
    assert reading.confirmed
    assert reading.period == pytest.approx(period, rel=1e-9)
    assert reading.ranges[0][1:] == pytest.approx((lowest, highest), rel=1e-9)
    finding = asked(text)
    assert finding.verdict is Verdict.CONFLICT
    assert float(finding.evidence.numbers["period"][0]) == pytest.approx(period, rel=1e-9)
    assert "heater" in finding.of


@pytest.mark.parametrize("count", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_random_relays_over_lags_have_the_cycle_of_their_closed_form(count: int) -> None:
    draw = Random(5)  # noqa: S311  (the same in every run)
    for _ in range(count):
        cold, power, lag = draw.randint(-5, 10), draw.randint(10, 40), draw.choice([3, 60, 300])
        low = cold + power * draw.uniform(0.2, 0.5)
        high = low + power * draw.uniform(0.02, 0.3)
        low, high = round(low, 3), round(high, 3)
        numbers = {"cold": cold, "power": power, "lag": lag, "late": draw.choice([0, 1, lag]), "low": low, "high": high}
        reading = only(ROOM.format(start=round(low - 1, 3), **numbers))
        period, lowest, highest = lag_cycle(**numbers)
        assert reading.confirmed, numbers
        assert reading.period == pytest.approx(period, rel=1e-8), numbers
        assert reading.ranges[0][1:] == pytest.approx((lowest, highest), rel=1e-8), numbers


def test_a_heater_that_is_too_weak_comes_to_rest_and_no_cycle_is_said() -> None:
    text = ROOM.format(cold=10, power=9, lag=300, late=0, low=18, high=20, start=12)
    assert only(text).verdict == "none"
    assert asked(text).verdict is Verdict.UNDECIDED


@pytest.mark.slow
def test_a_relay_over_a_plant_of_second_order_swings_as_a_plain_integrator_does() -> None:
    text = """
coherence: 1
components:
  oven: {state: "temp' = (plate.temp - oven.temp) / 40 s", from: 20}
  plate: {state: "temp' = (20 - plate.temp + 200 * (1 if relay else 0)) / 100 s", from: 20}
loops:
  relay:
    trigger: {enter: "delayed(oven.temp, 10 s) < 95", leave: "delayed(oven.temp, 10 s) > 105"}
    actuation: {signal: relay.on, law: set, to: 1, bounds: [0, 1], from: 0}
"""
    (reading,) = predicted_cycles(model_of(text))
    assert reading.confirmed
    period, low, high = _stepped()
    assert reading.period == pytest.approx(period, rel=1e-3)
    ranges = {path: (least, most) for path, least, most in reading.ranges}
    assert ranges["oven.temp"] == pytest.approx((low, high), rel=1e-3)


def _stepped(step: float = 0.01) -> tuple[float, float, float]:
    """Returns (period, lowest, highest) of the oven by Euler's method, which shares nothing with the engines."""
    oven = plate = 20.0
    on, ups, last, seen = False, [], deque([20.0] * round(10 / step)), []
    for k in range(round(4000 / step)):
        last.append(oven)
        read = last.popleft()
        was, on = on, read < 95 or (on and not read > 105)
        ups += [k * step] if on and not was else []
        oven, plate = oven + step * (plate - oven) / 40, plate + step * (20 - plate + 200 * on) / 100
        seen += [oven] if k * step > 2500 else []
    return ups[-1] - ups[-2], min(seen), max(seen)


def test_a_switch_begins_off_between_its_thresholds_and_enters_at_once_beyond_them() -> None:
    inside = at_crossings(model_of(ROOM.format(cold=10, power=15, lag=300, late=0, low=18, high=20, start=19)))
    run = hybrid.execute(inside, until=Fraction(60))
    assert next(instant.switched for instant in run.instants if instant.switched) == (("heater", True),)
    first = next(instant.time for instant in run.instants if instant.switched)
    assert float(first) == pytest.approx(300 * math.log(9 / 8), rel=1e-9)
    below = at_crossings(model_of(ROOM.format(cold=10, power=15, lag=300, late=0, low=18, high=20, start=12)))
    assert hybrid.execute(below, until=Fraction(1)).instants[0].switched == (("heater", True),)


@pytest.mark.parametrize(
    ("clock", "enter"),
    [
        ("timescale: {cooldown: 5 s}\n    ", "tank.level >= 10"),
        ("timescale: {phase: 5 s}\n    ", "tank.level >= 10"),
        ("", "tank.level >= 10 for 5 s"),
        ("", "mean_over(tank.level, 5 s) >= 10"),
    ],
)
def test_what_counts_samples_still_needs_a_period(clock: str, enter: str) -> None:
    made = model_of(TANK.format(clock=clock, enter=enter, leave="tank.level <= 4"))
    assert at_crossings(made) is made
    assert "period of pump" in made.gaps[0].needs


def test_a_switch_that_leaves_where_it_enters_is_left_open() -> None:
    finding = asked(TANK.format(clock="", enter="tank.level > 2", leave="tank.level <= 2"))
    assert finding.verdict is Verdict.UNDECIDED


def test_a_command_that_stays_set_is_said_to_and_gets_no_linear_verdict() -> None:
    text = ROOM.format(cold=10, power=15, lag=300, late=0, low=18, high=20, start=12)
    latched = text.replace("(1 if heater else 0)", "stove.on")
    reading = only(latched)
    assert reading.verdict == "undecided"
    assert "stove.on stays as it was set" in reading.reason
    assert asked(latched).verdict is Verdict.UNDECIDED
    run = hybrid.execute(at_crossings(model_of(latched)), until=Fraction(3000))
    assert run.instants[-1].after["room.temp"] == pytest.approx(25, abs=1e-3)


LATE_HEAT = """
coherence: 1
components:
  room: {heat: 1 if heater else 0, state: "temp' = (10 - room.temp + 20 * delayed(room.heat, 20 s)) / 300 s", from: 18}
loops:
  heater:
    trigger: {enter: room.temp < 19, leave: room.temp > 21}
    actuation: {signal: stove.on, law: set, to: 1, bounds: [0, 1], from: 0}
"""


@pytest.mark.slow
def test_heat_that_arrives_late_is_the_cycle_of_a_late_reading_and_is_confirmed() -> None:
    """Echoes of echoes of the delay had no end: the run that confirms the cycle took 2,000 instants and gave up."""
    reading, (period, lowest, highest) = only(LATE_HEAT), lag_cycle(10, 20, 300, 20, 19, 21)[:3]
    assert reading.confirmed
    assert reading.period == pytest.approx(period, rel=1e-9)
    (swing,) = reading.ranges
    assert swing[1:] == pytest.approx((lowest, highest), rel=1e-9)


@pytest.mark.slow
def test_a_cycle_stands_where_no_time_is_left_to_confirm_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def works(*_: object, **__: object) -> None:
        end = time.process_time() + 30
        while time.process_time() < end:
            pass

    monkeypatch.setattr("coherence.loops.designs.predicted_cycles.confirmed", works)
    (reading,) = predicted_within(model_of(LATE_HEAT), 1.0)
    assert (reading.verdict, reading.confirmed) == ("cycle", False)
    assert reading.reason == "not executed: the time limit was reached"


def test_what_is_predicted_stays_where_the_next_part_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers of all parts were lost with that of one."""

    def one_and_no_more(*_: object, **__: object) -> Iterator[CycleReading]:
        yield CycleReading("first", "cycle", 3.0)
        end = time.process_time() + 30
        while time.process_time() < end:
            pass

    monkeypatch.setattr("coherence.loops.designs.predicted_cycles.cycles_of_flows", one_and_no_more)
    first, others = predicted_within(model_of(LATE_HEAT), 0.2)
    assert (first.loop, others.loop, others.verdict) == ("first", "the other loops", "undecided")
