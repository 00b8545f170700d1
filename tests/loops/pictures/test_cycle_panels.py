"""Limit cycles in the plane: a circle is a circle, one signal is drawn beside its rate."""

from __future__ import annotations

import math

import pytest

from coherence.loops.designs.predicted_cycles import CycleReading
from coherence.loops.pictures.cycle_panels import cycle_panels
from tests.loops.designs.test_smooth_flows import CIRCLE, model

READING = CycleReading(
    "a.x, b.x", "cycle", math.tau, (("a.x", -1.0, 1.0), ("b.x", -1.0, 1.0)), None, 0.0, confirmed=True
)


def test_a_circle_is_drawn_as_one() -> None:
    (panel,) = cycle_panels(model(CIRCLE), [READING])
    assert all(math.hypot(x, y) == pytest.approx(1, abs=1e-3) for x, y in panel.lines[0].points)
    assert (panel.x, panel.y) == ("a.x, number", "b.x, number")


def test_one_signal_is_drawn_beside_its_rate() -> None:
    alone = CycleReading("a.x", "cycle", math.tau, (("a.x", -1.0, 1.0),), None, 0.0, confirmed=True)
    (panel,) = cycle_panels(model(CIRCLE), [alone])
    assert panel.y == "rate of a.x, number/s"
    assert all(math.hypot(x, y) == pytest.approx(1, abs=2e-2) for x, y in panel.lines[0].points)


def test_what_execution_does_not_confirm_is_not_drawn() -> None:
    unsure = CycleReading("a.x", "cycle", math.tau, (("a.x", -1.0, 1.0),))
    assert not list(cycle_panels(model(CIRCLE), [unsure]))
