"""Maps of gain and delay: the cells of one loop follow its closed form, others its windows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.analysis.gain_delay_map import DELAYS, gain_delay_map
from coherence.loops.networks.network import Block, Coupling, loop, network
from coherence.loops.pictures.map_panel import OTHER, STABLE, lap_map_panel, map_panel
from coherence.model.elaborate import elaborate


def test_the_cells_of_one_loop_end_at_its_critical_delay() -> None:
    """k T < pi / 2."""
    panel = map_panel(loop([0.1], [1.0, 0.0], delay=5.0), "loop")
    stable = [cell for cell in panel.cells if cell[4] == STABLE]
    assert stable
    longest = max(cell[2] for cell in panel.cells)
    for start, low, end, high, _ in stable:
        edge = math.pi / 2 / (0.1 * math.sqrt(low * high)) - 5
        assert start == 0
        assert end == pytest.approx(min(edge, longest), abs=longest / 160)
    assert (panel.x, panel.log) == ("extra delay, s", "y")


@pytest.mark.slow
def test_a_sampled_network_is_mapped_by_its_windows() -> None:
    net = network([Block("plant", (0.5,), (1.0, 0.0), 0.0, rate=1.0)], [Coupling("plant", "plant", -1)])
    cells = map_panel(net, "plant").cells
    assert {cell[4] for cell in cells} >= {STABLE}
    for start, low, end, high, colour in cells:
        if colour == STABLE and end < 1:  # of a part of a step: min(1 / t, 2 / (1 - 2 t)) (Astrom and Wittenmark)
            gain = 0.5 * math.sqrt(low * high)
            assert end == pytest.approx(1 / gain, rel=1e-6)
            assert start == pytest.approx(max(0.0, 0.5 - 1 / gain), abs=1e-6)


LATE_TANK = """coherence: 1
components:
  tank: {state: "level' = (1 - 0.5 * valve.open) / 1 s", from: 4}
loops:
  ctl:
    timescale: {period: 2 s, phase: 0 s}
    trigger: always
    actuation:
      {signal: valve.open, law: set, to: "2 + 0.6 * (delayed(tank.level, 3 s) - 5)", bounds: [-100, 100], from: 2}
"""


@pytest.mark.slow
def test_the_map_of_a_sampled_loop_follows_the_polynomial_of_its_lap() -> None:
    """Level z steps by -k (1 - f) of the command n samples ago and -k f of one more: roots by numpy, k = 0.6 factor."""
    model = elaborate(read_text(LATE_TANK))
    (group,) = analysed(model, time_limit=600).groups
    known = gain_delay_map(group.group, group.points[0], "ctl", lambda: None)
    (one,) = (stable for factor, stable in known.rows if math.isclose(factor, 1))
    margin = group.points[0].loops[0].landing
    assert margin is not None
    assert one[0] == pytest.approx((0.0, float(margin.stable)), abs=known.longest / 90)
    width = known.longest / DELAYS
    for factor, stretches in known.rows:
        for column in range(DELAYS):
            late = 3 + (column + 0.5) * width  # reading and landing, s
            whole, part = divmod(late, 2)
            law = [0.6 * factor * (2 - part) / 2, 0.6 * factor * part / 2]
            roots = np.roots([1, -1, *[0] * (int(whole) - 1), *law])
            inside = any(low <= late - 3 <= high for low, high in stretches)
            if abs(max(abs(roots)) - 1) > 1e-9:
                assert inside is bool(max(abs(roots)) < 1), (factor, late)
    assert {cell[4] for cell in lap_map_panel(known, "ctl").cells} == {STABLE, OTHER}
