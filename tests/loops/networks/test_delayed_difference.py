"""The difference operator of networks with feedthrough around delays."""

from __future__ import annotations

import pytest

from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.delayed_difference import difference_growth
from coherence.loops.networks.network import Block, Coupling, Network, loop, network


def pair(first: float, second: float, late: float = 1.0) -> Network:
    """y = first * y(t - 1) + second * y(t - late), as two blocks around a sum."""
    return network(
        [Block("sum", (1.0,), (1.0,)), Block("a", (first,), (1.0,), 1.0), Block("b", (second,), (1.0,), late)],
        [Coupling("sum", "a"), Coupling("sum", "b"), Coupling("a", "sum"), Coupling("b", "sum")],
    )


@pytest.mark.parametrize(("gain", "decays", "grows"), [(0.9, True, False), (1.1, False, True)])
def test_one_delayed_feedthrough_decays_below_one_and_grows_above(gain: float, decays: bool, grows: bool) -> None:
    growth = difference_growth(Characteristic(loop([gain], [1.0], 2.0)))
    assert (growth.decays, growth.grows) == (decays, grows)
    assert bool(growth.reason) != decays


def test_without_feedthrough_nothing_is_left_at_high_frequency() -> None:
    assert difference_growth(Characteristic(loop([5.0], [1.0, 1.0], 2.0))).decays
    assert difference_growth(Characteristic(loop([5.0], [1.0]))).decays


def test_what_decays_only_for_exactly_these_delays_is_not_called_so() -> None:
    """z^2 = a z + b with a = 0.7, b = -0.7 has both roots inside, but |a| + |b| > 1."""
    growth = difference_growth(Characteristic(pair(0.7, -0.7, 2.0)))
    assert (growth.decays, growth.grows) == (False, False)
    assert "exactly these delays" in growth.reason
    assert difference_growth(Characteristic(pair(0.49, -0.5, 2.0))).decays


def test_the_growth_is_that_of_a_step_of_the_common_grid() -> None:
    """z^2 = 0.8 z + 0.8: z = 0.4 + sqrt(0.96) = 1.3798."""
    growth = difference_growth(Characteristic(pair(0.8, 0.8, 2.0)))
    assert growth.grows
    assert "1.3798 times per grid step" in growth.reason


def test_delays_without_a_common_grid_are_left_open() -> None:
    growth = difference_growth(Characteristic(pair(0.8, 0.8, 2**0.5)))
    assert (growth.decays, growth.grows) == (False, False)
    assert "may grow" in growth.reason
