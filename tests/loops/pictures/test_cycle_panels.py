"""Limit cycles in the plane: a circle is a circle, one signal is drawn beside its rate."""

from __future__ import annotations

import math

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.predicted_cycles import CycleReading
from coherence.loops.pictures.cycle_panels import cycle_panels
from coherence.model.elaborate import elaborate
from tests.loops.designs.test_smooth_flows import CIRCLE, model

READING = CycleReading(
    "a.x, b.x", "cycle", math.tau, (("a.x", -1.0, 1.0), ("b.x", -1.0, 1.0)), None, 0.0, confirmed=True
)


def test_a_circle_is_drawn_as_one() -> None:
    (panel,) = cycle_panels(model(CIRCLE), [READING])
    assert all(math.hypot(x, y) == pytest.approx(1, abs=1e-3) for x, y in panel.lines[0].points)
    assert (panel.x, panel.y) == ("a.x, number", "b.x, number")


@pytest.mark.slow
def test_one_signal_is_drawn_beside_its_rate() -> None:
    alone = CycleReading("a.x", "cycle", math.tau, (("a.x", -1.0, 1.0),), None, 0.0, confirmed=True)
    (panel,) = cycle_panels(model(CIRCLE), [alone])
    assert panel.y == "rate of a.x, number/s"
    assert all(math.hypot(x, y) == pytest.approx(1, abs=2e-2) for x, y in panel.lines[0].points)


def test_what_execution_does_not_confirm_is_not_drawn() -> None:
    unsure = CycleReading("a.x", "cycle", math.tau, (("a.x", -1.0, 1.0),))
    assert not list(cycle_panels(model(CIRCLE), [unsure]))


THERMOSTAT = """coherence: 1
components:
  room: {state: "temp' = (10 - room.temp + 15 * (1 if thermostat else 0)) / 300 s", from: 12}
loops:
  thermostat:
    trigger: {enter: "room.temp < 18", leave: "room.temp > 20"}
    actuation: {signal: room.lamp, law: set, to: 1, bounds: [0, 1], from: 0}
"""


def test_what_switches_without_a_period_is_drawn() -> None:
    """Between 18 and 20 degrees in 300 (ln(7 / 5) + ln(10 / 8)) s, towards 25 and towards 10 degrees."""
    period = 300 * (math.log(7 / 5) + math.log(10 / 8))
    cycle = CycleReading("room.temp", "cycle", period, (("room.temp", 18.0, 20.0),), None, 0.0, confirmed=True)
    (panel,) = cycle_panels(elaborate(read_text(THERMOSTAT)), [cycle])
    temperatures = [x for x, _ in panel.lines[0].points]
    assert (min(temperatures), max(temperatures)) == pytest.approx((18, 20), abs=0.03)
    for temperature, rate in panel.lines[0].points:
        if 18.2 < temperature < 19.8:
            assert min(abs(rate - (end - temperature) / 300) for end in (10, 25)) < 1e-3
