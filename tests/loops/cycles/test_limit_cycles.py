"""Limit cycles of switching loops: closed forms, published cases, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.cycles.delayed_runs import Run, start_at
from coherence.loops.cycles.describing_functions import screen
from coherence.loops.cycles.limit_cycles import Cycle, CycleSearchResult, limit_cycles
from coherence.loops.cycles.relay import (
    Pieces,
    Staircase,
    System,
    ceiling,
    feedback,
    on_off,
    relay,
    rounding,
    saturation,
    staircase,
    system,
)


def dead_zone_relay(height: float, band: float, hysteresis: float = 0.0) -> Staircase:
    """Returns -height, 0, +height, with 0 for |y| < band."""
    up = (-band + hysteresis, band + hysteresis)
    return staircase((-height, 0.0, height), up, (-band - hysteresis, band - hysteresis))


def dead_band(slope: float = 1.0, band: float = 1.0, *, jump: bool = False) -> Pieces:
    """Returns 0 for |y| <= band, else slope * (y -+ band), or slope * y if it jumps (a tolerance)."""
    back = 0.0 if jump else slope * band
    return Pieces((-band, band), (slope, 0.0, slope), (back, 0.0, -back))


def third_order(gain: float) -> tuple[list[float], list[float]]:
    """gain / (s (s + 1) (s + 2))."""
    return [gain], [1.0, 3.0, 2.0, 0.0]


def only(answer: CycleSearchResult) -> tuple[float, float, float]:
    """(period, lowest, highest) of the one attracting cycle."""
    assert len(answer.attracting) == 1, answer
    cycle = answer.attracting[0]
    return cycle.period, cycle.lowest[0], cycle.highest[0]


@pytest.mark.slow
def test_relay_integrator_with_delay_draws_triangles() -> None:
    period, low, high = only(limit_cycles(feedback([0.05], [1, 0], relay(1), delay=30)))
    assert (period, low, high) == pytest.approx((120, -1.5, 1.5), rel=1e-9)


@pytest.mark.slow
def test_hysteresis_adds_its_travel() -> None:
    period, low, high = only(limit_cycles(feedback([0.05], [1, 0], relay(1, 2.0), delay=30)))
    assert (period, low, high) == pytest.approx((280, -3.5, 3.5), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("tau", "theta", "eps"), [(1.0, 1.0, 0.0), (1.0, 5.0, 0.0), (10.0, 2.0, 0.1), (3.0, 0.7, 0.4)])
def test_first_order_plants_with_delay(tau: float, theta: float, eps: float) -> None:
    decay = math.exp(-theta / tau)
    expected = 2 * (theta + tau * math.log((2 - (1 - eps) * decay) / (1 - eps)))
    period, _, high = only(limit_cycles(feedback([1], [tau, 1], relay(1, eps), delay=theta)))
    assert period == pytest.approx(expected, rel=1e-9)
    assert high == pytest.approx(1 - (1 - eps) * decay, rel=1e-9)


@pytest.mark.slow
def test_third_order_relay_loop_exactly_and_by_its_first_harmonic() -> None:
    loop = feedback(*third_order(1), relay(1))
    (guess,) = screen(loop)
    assert guess.amplitude == pytest.approx(2 / (3 * math.pi), rel=1e-6)
    assert guess.period == pytest.approx(math.sqrt(2) * math.pi, rel=1e-6)
    period, _, high = only(limit_cycles(loop))
    assert period == pytest.approx(4.551071, rel=1e-6)
    assert high == pytest.approx(0.22003705, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("margin", [1.1, 1.2, 1.3, 1.5])
def test_integer_replicas_swing_where_the_first_harmonic_denies_it(margin: float) -> None:
    k = math.pi / 2 / margin
    loop = feedback([k], [1, 0], rounding(most=20), delay=1)
    assert bool(screen(loop)) == (margin < 4 / math.pi)
    periods = [(c.period, c.highest[0] - c.lowest[0]) for c in limit_cycles(loop).attracting]
    assert any(pair == pytest.approx((4, 2 * k - 1), rel=1e-9) for pair in periods)  # larger ones may stand beside


def test_integer_replicas_come_to_rest_at_a_low_gain() -> None:
    answer = limit_cycles(feedback([0.9817477], [1, 0], rounding(most=20), delay=1))
    assert (answer.verdict, answer.cycles) == ("none", ())
    assert "come to rest" in answer.reason


def test_a_broken_load_keeps_whole_replicas_alternating() -> None:
    """Between 2 and 3 replicas, each side travels one delay beyond its threshold: period (1/f + 1/(1-f)) * delay."""
    cycle = limit_cycles(feedback([0.5], [1, 0], ceiling(most=20), delay=1, load=2.4)).attracting[0]
    assert cycle.period == pytest.approx(1 / 0.4 + 1 / 0.6, rel=1e-9)
    assert cycle.duty[0] == pytest.approx(0.4, rel=1e-9)


@pytest.mark.slow
def test_slower_release_than_take_up() -> None:
    """x' = 0.3 - u: each switch acts 2 s late upwards and 5 s late downwards."""
    cycle = limit_cycles(feedback([1], [1, 0], on_off(1.0, 0.5), delay=(2.0, 5.0), load=0.3)).attracting[0]
    high, low = 1.0 + 0.3 * 2, 0.5 - 0.7 * 5
    assert (cycle.highest[0], cycle.lowest[0]) == pytest.approx((high, low), rel=1e-9)
    assert cycle.period == pytest.approx((high - low) / 0.3 + (high - low) / 0.7, rel=1e-9)


@pytest.mark.slow
def test_saturation_beyond_the_critical_gain_swings_and_below_rests() -> None:
    above = limit_cycles(feedback(*third_order(10), saturation(1, 1)))
    assert above.attracting[0].period == pytest.approx(4.4884206718, rel=1e-8)
    below = limit_cycles(feedback(*third_order(4), saturation(1, 1)))
    assert (below.verdict, below.attracting) == ("none", ())


@pytest.mark.slow
def test_saturation_with_delay_against_the_triangle_of_a_steep_one() -> None:
    steep = feedback([1], [1, 0], saturation(200, 1), delay=1)
    period, low, high = only(limit_cycles(steep))
    assert period == pytest.approx(4, rel=5e-3)
    assert (low, high) == pytest.approx((-1, 1), rel=1e-2)


@pytest.mark.slow
def test_delayed_saturation_around_its_critical_gain() -> None:
    """The critical gain of exp(-s) / (s + 1) is 2.2618."""
    assert limit_cycles(feedback([2.15], [1, 1], saturation(1, 1), delay=1)).verdict == "none"
    period, _, _ = only(limit_cycles(feedback([2.4], [1, 1], saturation(1, 1), delay=1)))
    assert 2.9797 < period < 2 * math.pi / 2.0287578


@pytest.mark.slow
def test_dead_zones_hold_small_swings_and_keep_large_ones() -> None:
    answer = limit_cycles(feedback(*third_order(2), dead_zone_relay(1, 0.1)))
    assert set(answer.ends) == {"cycle", "rest"}
    assert answer.attracting[0].period == pytest.approx(4.5008261962, rel=1e-8)


def test_a_relay_without_delay_on_a_lag_slides() -> None:
    answer = limit_cycles(feedback([1], [1, 1], relay(1)))
    assert (answer.verdict, set(answer.ends)) == ("none", {"sliding"})


@pytest.mark.slow
def test_endless_staircases_can_run_away() -> None:
    answer = limit_cycles(feedback([2.5], [1, 0], rounding(most=30), delay=1))
    assert answer.attracting == ()
    assert answer.ends["away"] >= 1
    assert "run away" in answer.reason


def test_relays_without_interaction_keep_their_own_periods() -> None:
    """Two equal loops side by side, uncoupled, swing as one alone does; their phases differ with the start."""
    both = system([[-1, 0], [0, -1]], [[-1, 0], [0, -1]], [[1, 0], [0, 1]], [relay(1)] * 2, delays=[1, 1])
    alone = limit_cycles(feedback([1], [1, 1], relay(1), delay=1)).attracting[0]
    for cycle in limit_cycles(both, starts=[start_at(both, np.array([0.2, -0.3]))]).cycles:
        assert cycle.period == pytest.approx(alone.period, rel=1e-8)


@pytest.mark.slow
def test_coupled_relays_agree_with_a_long_run() -> None:
    loop = coupled(0.4)
    cycle = limit_cycles(loop, starts=[start_at(loop, np.array([0.3, -0.2]))]).attracting[0]
    period, low, high = observed(loop, [0.3, -0.2], until=60 * cycle.period, last=4 * cycle.period)
    assert high == pytest.approx(cycle.highest[0], rel=1e-6) or high == pytest.approx(-cycle.lowest[0], rel=1e-6)
    assert low < 0 < period


def coupled(share: float) -> System:
    return system(
        [[-1, 0], [0, -0.6]],
        [[-1, -share], [share, -1]],
        [[1, 0], [0, 1]],
        [relay(1, 0.05), relay(1, 0.1)],
        delays=[0.5, 0.5],
    )


def observed(loop: System, x: list[float], *, until: float, last: float) -> tuple[float, float, float]:
    """(longest distance of crossings, lowest, highest) of the first output over the end of a run."""
    run = Run(loop, start_at(loop, np.array(x)))
    values, times = [], []
    for segment in run:
        if run.time > until:
            break
        if segment.start > until - last:
            values.append(float(loop.c[0][0] * segment.z[0]))
            times.append(segment.start)
    return max(np.diff(times)), min(values), max(values)


def from_one_start(loop: System) -> Cycle:
    return limit_cycles(loop, starts=[start_at(loop, np.array([0.6]))]).attracting[0]


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.floats(0.2, 5), st.floats(0.1, 3), st.floats(0.01, 100))
def test_scaling_time_scales_the_period_alone(tau: float, theta: float, factor: float) -> None:
    one = from_one_start(feedback([1], [tau, 1], relay(1, 0.1), delay=theta))
    other = from_one_start(feedback([1], [tau * factor, 1], relay(1, 0.1), delay=theta * factor))
    assert other.period == pytest.approx(factor * one.period, rel=1e-8)
    assert other.highest == pytest.approx(one.highest, rel=1e-8)


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.floats(0.3, 3), st.floats(0.0, 2.0), st.floats(0.05, 0.9))
def test_more_delay_never_shortens_the_period_of_a_relay(theta: float, more: float, eps: float) -> None:
    one = from_one_start(feedback([1], [1, 1], relay(1, eps), delay=theta))
    other = from_one_start(feedback([1], [1, 1], relay(1, eps), delay=theta + more))
    assert other.period >= one.period * (1 - 1e-9)


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(UsageError, match="strictly proper"):
        feedback([1, 0], [1, 1], relay(1))
    with pytest.raises(UsageError, match="thresholds"):
        staircase((0, 1), (1,), (2,))
    with pytest.raises(UsageError, match="levels need"):
        staircase((0, 1, 2), (1,), (1,))
    with pytest.raises(UsageError, match="delay must be"):
        feedback([1], [1, 1], relay(1), delay=-1)


def test_different_delays_of_sloped_elements_are_undecided() -> None:
    answer = limit_cycles(feedback([1], [1, 1], dead_band(1, 0.2), delay=(1.0, 2.0)))
    assert answer.verdict == "undecided"
    assert "different delays" in answer.reason


@pytest.mark.slow
def test_pieces_and_staircases_agree_on_a_relay() -> None:
    pieces = Pieces((0.0,), (0.0, 0.0), (-1.0, 1.0))
    one = only(limit_cycles(feedback(*third_order(1), pieces)))
    assert one == pytest.approx(only(limit_cycles(feedback(*third_order(1), relay(1)))), rel=1e-9)


@pytest.mark.slow
def test_a_relay_that_acts_at_once_upwards_and_late_downwards_has_its_closed_form() -> None:
    """Up at e: y falls to -1 from there, passes -e and goes on for the delay; then it rises to +1 from the lowest."""
    edge, late = 0.1, 0.7
    loop = feedback([1], [1, 1], relay(1, edge), delay=(0.0, late))
    (cycle,) = limit_cycles(loop, starts=[start_at(loop, np.array([0.05]))]).attracting
    lowest = -1 + (1 - edge) * math.exp(-late)
    period = math.log((1 + edge) / (1 - edge)) + late + math.log((1 - lowest) / (1 - edge))
    assert cycle.period == pytest.approx(period, rel=1e-9)
    assert cycle.lowest[0] == pytest.approx(lowest, rel=1e-9)
    assert cycle.highest[0] == pytest.approx(edge, rel=1e-9)
