"""A loop of a design is opened where its margins open it: at what its law changes beside what it carries on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.analysis import law_margins
from coherence.loops.analysis.design_analysis import DesignAnalysis
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.design_network import network_of
from coherence.loops.designs.lap_matrices import by_own_command, closed
from coherence.loops.interchange.design_systems import whole_system
from coherence.loops.interchange.loop_analysis import analyze
from coherence.loops.interchange.opened_designs import opened_design
from coherence.loops.margins.sampled_margins import sampled_margins
from coherence.loops.multirate.lifting import lift
from coherence.loops.multirate.opened_lap import OpenedLap
from tests.draws import few
from tests.loops.designs.test_bridged_laps import LAG, drawn_design, smooth_at_rest
from tests.loops.interchange.test_design_systems import moduli

AUTOSCALER = """coherence: 1
components:
  web: {{{web}}}
loops:
  hpa:
    timescale: {{period: 15 s}}
    target: {{signal: web.load, setpoint: 60 %, type: utilization}}
    actuation: {{signal: web.size, law: proportional, bounds: [1, 100], from: 8}}
"""
MEMBERS = ["load: 3 / web.size", "ready: size, load: 3 / ready", 'ready: "delayed(web.size, 20 s)", load: 3 / ready']


def response(lap: OpenedLap, z: complex) -> np.ndarray:
    a, b, c, d = lap.loop
    return np.asarray(c @ np.linalg.solve(z * np.eye(len(a)) - a, b) + d)


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(st.data())
def test_every_loop_is_the_one_that_its_margins_are_of(data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "set", "step", "proportional"))
    design, lap = network_of(model, point), opened(model, point)
    for loop in {law.loop for law in design.laws.values()}:
        (alone,) = by_own_command([lap], None, loop)
        cut = law_margins.opened_lap(closed(alone, left_open=[loop]), alone)
        for z in (2.0, 1.5j, -0.8 + 0.9j):
            assert response(opened_design(design, loop), z) == pytest.approx(response(cut, z), rel=1e-6, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=few(15), deadline=None)
@given(st.data())
def test_every_loop_closed_again_has_the_multipliers_of_the_whole(data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "set", "step", "proportional"))
    design = network_of(model, point)
    largest = moduli(lift(whole_system(design)).floats).max(initial=0)
    for law in design.laws.values():
        matrix = opened_design(design, law.loop).sensitivity[0]
        assert moduli(matrix).max(initial=0) == pytest.approx(largest, rel=1e-5, abs=1e-2)


@pytest.mark.parametrize("web", MEMBERS)
def test_an_autoscaler_is_an_integrator_of_gain_one_whatever_members_it_counts(web: str) -> None:
    answer = analyze(AUTOSCALER.format(web=web))
    lap = answer.linearize("hpa").sampled
    assert lap is not None
    for z in (2.0, 1j, -0.3 + 0.4j):
        assert response(lap, z)[0, 0] == pytest.approx(1 / (z - 1))
    (figures,) = answer.analysis.groups[0].points[0].loops  # type: ignore[union-attr]
    margins = sampled_margins(lap)
    assert margins is not None
    assert figures.margins is not None
    assert (figures.gain_high, margins.high.at) == pytest.approx((2, 2))
    assert (figures.margins.sensitivity.value, margins.sensitivity.value) == pytest.approx((2, 2))


def test_the_thermostat_is_its_polynomial() -> None:
    leaves = np.exp(-0.2)
    lap = opened_design(network_of(*smooth_at_rest(LAG)), "ctl")
    assert np.poly(lap.sensitivity[0]) == pytest.approx([1, -leaves, 6 * (1 - leaves)])


def test_a_loop_that_decides_nothing_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="other decides nothing"):
        opened_design(network_of(*smooth_at_rest(LAG)), "other")


FLAT_BELOW = """coherence: 1
components:
  tank: {state: "level' = (1 - 0.5 * valve.open) / 1 s", from: 5}
loops:
  ctl:
    timescale: {period: 2 s, phase: 0 s}
    trigger: always
    actuation: {signal: valve.open, law: step, by: "0.1 * max(0, tank.level - 5)", bounds: [-100, 100], from: 2}
"""


@pytest.mark.slow
def test_all_sides_of_a_kink_are_cut_alike() -> None:
    """Below 5 the law sees nothing but its own command; it carries that on, as it does above, and L is nothing."""
    analysis = analyze(FLAT_BELOW)
    assert isinstance(analysis.analysis, DesignAnalysis)
    (group,) = analysis.analysis.groups
    (figures,) = group.points[0].loops
    assert figures.carries
    gains = [abs(analysis.linearize("ctl", branch=side).over([0.1]).L.frdata).max() for side in (0, 1)]
    assert min(gains) == 0
    assert max(gains) > 0
