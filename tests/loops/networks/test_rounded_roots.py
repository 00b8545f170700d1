"""Rounded roots, hidden modes, touched axes, and numbers far apart: never a wrong verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.loops.margins.network_margins import margins
from coherence.loops.networks import critical
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, loop, network

# two resonances next to each other: one root pair at +4e-10, which rounding moves to -1.4e-9
TWIN = (1.0, 2.7970685123010515e-07, 1.9999999999999998, 2.7970685123010515e-07, 1.0)
# three of them and a lag: a root pair at +2.8e-8, computed at -5.1e-7
TRIPLE = (
    1.0, 1.0001480218177186, 3.0001514891058045, 3.000299511404024, 3.000302977392148, 3.0001549555744296,
    1.0001514882863438, 1.0000034659881243,
)  # fmt: skip


class TestRoundedRoots:
    @pytest.mark.parametrize("polynomial", [TWIN, TRIPLE])
    @pytest.mark.parametrize(("gain", "delay"), [(None, 0.0), (-1.0, 0.0), (-1.0, 1.0)])
    def test_a_root_that_rounding_may_move_over_the_axis_is_not_called_stable(
        self, polynomial: tuple[float, ...], gain: float | None, delay: float
    ) -> None:
        block = Block("a", (1e-20,), polynomial, delay)
        couplings = [] if gain is None else [Coupling("a", "a", gain)]
        assert verdict(network([block], couplings)).verdict != "stable"

    def test_a_clear_multiple_root_stays_stable(self) -> None:
        polynomial = tuple(float(c) for c in np.poly([-1.0] * 6))
        assert verdict(network([Block("a", (1.0,), polynomial)])).verdict == "stable"
        assert verdict(loop([1.0], polynomial, 1.0)).verdict == "stable"

    def test_time_constants_twelve_decades_apart_stay_stable(self) -> None:
        polynomial = tuple(float(c) for c in np.poly([-1e6, -1.0, -1e-6]))
        assert verdict(loop([1.0], polynomial, 0.1)).verdict == "stable"


class TestNumbersFarApart:
    @pytest.mark.parametrize(
        ("numerator", "denominator", "gain"),
        [((1e308,), (1e-308, 1.0), -1e308), ((5e-324,), (5e-324, 1.0), -1.0), ((1e154,), (1e-154, 1.0, 1e308), -1e9)],
    )
    def test_overflow_is_undecided(
        self, numerator: tuple[float, ...], denominator: tuple[float, ...], gain: float
    ) -> None:
        made = network([Block("a", numerator, denominator)], [Coupling("a", "a", gain)])
        assert verdict(made).verdict == "undecided"

    def test_no_margins_without_a_limit(self) -> None:
        judged = margins(network([Block("a", (3.0,), (1e20, 1e154))], [Coupling("a", "a", 1.0)]))
        assert judged.stability.verdict == "stable"
        assert judged.margins is None


class TestWindowsOfDelay:
    @pytest.mark.parametrize(
        ("numerator", "denominator"), [([0.1, 0.0], [1.0, 0.2, 0.0]), ([0.1, 0.0, 0.1], [1.0, 3.0, 4.0, 3.0, 3.0])]
    )
    def test_a_hidden_root_on_the_axis_leaves_no_window(self, numerator: list[float], denominator: list[float]) -> None:
        assert critical.delay_windows(numerator, denominator, 30.0) == []

    @pytest.mark.parametrize("change", [0.0, -1e-14, -1e-12, -1e-10, 1e-14, 1e-10])
    @pytest.mark.parametrize("damping", [0.1, 0.01, 0.001])
    def test_a_touch_of_the_axis_loses_no_window(self, damping: float, change: float) -> None:
        gain = 2 * damping * math.sqrt(1 - damping**2) * (1 + change)
        windows = critical.delay_windows([gain], [1.0, 2 * damping, 1.0], 30.0)
        for delay in (0.5, 3.0, 11.0, 26.0):  # between the touches, about 1.6 + 6.3 k
            assert any(low < delay < high for low, high in windows)

    def test_a_root_on_the_axis_without_delay_is_counted_with_some(self) -> None:
        assert critical.delay_windows([1.0], [1.0, 0.0, 0.0], 30.0) == []  # s^2 + 1, then unstable


class TestMargins:
    @pytest.mark.slow
    def test_feedthrough_behind_delays_scales_by_the_loop_not_by_its_root(self) -> None:
        net = network(
            [Block("a", (0.5,), (1.0,), 1.0), Block("b", (0.5,), (1.0,), 1.0)],
            [Coupling("a", "b", -1.0), Coupling("b", "a", 1.0)],
        )
        loop_margins = margins(net, "a").margins
        assert loop_margins is not None
        assert loop_margins.upper_gain == pytest.approx(4.0, rel=1e-6)

    def test_two_incommensurate_delays_about_a_direct_loop(self) -> None:
        net = network(
            [Block("a", (1.0,), (1.0,)), Block("b", (0.1,), (1.0,), 1.0), Block("c", (0.1,), (1.0,), math.sqrt(2))],
            [
                Coupling("a", "a", 0.5), Coupling("a", "b"), Coupling("a", "c"), Coupling("b", "a"),
                Coupling("c", "a"),
            ],
        )  # fmt: skip
        loop_margins = margins(net, "a").margins
        assert loop_margins is not None
        assert loop_margins.upper_gain == pytest.approx(1 / 0.7, rel=1e-6)
