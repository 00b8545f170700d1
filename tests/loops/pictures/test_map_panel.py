"""Maps of gain and delay: the cells of one loop follow its closed form, others its windows."""

from __future__ import annotations

import math

import pytest

from coherence.loops.networks.network import Block, Coupling, loop, network
from coherence.loops.pictures.map_panel import STABLE, map_panel


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
