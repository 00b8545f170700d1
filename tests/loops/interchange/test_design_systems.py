"""The whole system of a design has the multipliers of its lap, whose decisions are cut and closed again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.design_network import network_of
from coherence.loops.interchange.design_systems import whole_system
from coherence.loops.multirate.lifting import lift
from coherence.loops.multirate.opened_lap import opened_lap
from tests.draws import few
from tests.loops.designs.test_bridged_laps import LAG, WRITERS, drawn_design, growths, smooth_at_rest


def moduli(matrix: np.ndarray) -> np.ndarray:
    sizes = np.sort(np.abs(np.linalg.eigvals(matrix)))[::-1]
    return sizes[sizes > 1e-2]


@settings(max_examples=few(25), deadline=None)
@given(st.data())
def test_a_whole_system_has_the_multipliers_of_the_design(data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "set", "step", "proportional"))
    whole = whole_system(network_of(model, point))
    assert moduli(lift(whole.system).floats) == pytest.approx(growths(opened(model, point)), rel=1e-5, abs=1e-6)


@settings(max_examples=few(15), deadline=None)
@given(st.data())
def test_every_loop_closed_again_has_the_multipliers_of_the_whole(data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "set", "step", "proportional"))
    whole = whole_system(network_of(model, point))
    largest = moduli(lift(whole.system).floats).max(initial=0)
    for signal in ("valve.open", "pump.speed"):
        try:
            closed = opened_lap(whole.system, signal, whole.own).sensitivity[0]
        except UsageError:
            continue
        assert moduli(closed).max(initial=0) == pytest.approx(largest, rel=1e-5, abs=1e-2)


def test_an_autoscaler_that_sees_its_own_effect_at_once_is_an_integrator_of_gain_one() -> None:
    model, point = smooth_at_rest(
        """
coherence: 1
components:
  web: {load: 40, per_replica: web.load / web.replicas}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: web.per_replica, setpoint: 10}
    actuation: {signal: web.replicas, law: proportional, bounds: [1, 100], from: 4}
"""
    )
    whole = whole_system(network_of(model, point))
    a, b, c, d = opened_lap(whole.system, "web.replicas", whole.own).loop
    for z in (2.0, 1j, -0.3 + 0.4j):
        loop = (c @ np.linalg.solve(z * np.eye(len(a)) - a, b) + d)[0, 0]
        assert loop == pytest.approx(1 / (z - 1))


def test_the_thermostat_is_its_polynomial() -> None:
    model, point = smooth_at_rest(LAG)
    whole = whole_system(network_of(model, point))
    leaves = np.exp(-0.2)
    assert np.poly(opened_lap(whole.system, "heater.power").sensitivity[0]) == pytest.approx(
        [1, -leaves, 6 * (1 - leaves)]
    )


def test_two_loops_that_write_one_command_are_refused_by_name() -> None:
    drawn = {"late": 1, "period": 2, "phase": 0, "lands": 0, "rank": 1, "other": 2}
    with pytest.raises(UsageError, match=r"first and second write valve\.open"):
        whole_system(network_of(*smooth_at_rest(WRITERS.format(**drawn))))
