"""Cycles of sloped elements that look back: event-accurate runs against collocation and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.loops.cycles.cycle_search_result import Cycle
from coherence.loops.cycles.delayed import follow_sloped
from coherence.loops.cycles.delayed_runs import start_at
from coherence.loops.cycles.delayed_runs_sloped import SlopedRun
from coherence.loops.cycles.limit_cycles import cycle_from
from coherence.loops.cycles.relay import Array, Element, feedback, relay, saturation, system
from coherence.loops.cycles.smooth import smooth_cycles


@pytest.mark.slow
def test_event_accurate_runs_and_collocation_agree() -> None:
    loop = feedback([2.4], [1, 1], saturation(1, 1), delay=1)

    def rate(x: Array, past: Array) -> Array:
        return -x - 2.4 * np.clip(past, -1, 1)

    (event_cycle,) = cycle_from(loop, start_at(loop, np.array([0.3]))).attracting
    (smooth_cycle,) = smooth_cycles(rate, 1, delay=1.0, starts=[[0.5]]).attracting
    assert event_cycle.period == pytest.approx(smooth_cycle.period, rel=1e-6)
    assert event_cycle.highest == pytest.approx(smooth_cycle.highest, rel=1e-5)


def test_a_relay_followed_as_if_it_were_sloped_has_its_closed_form() -> None:
    """Hysteresis and delay go through the same events: period 2 (delay + ln((2 - (1 - e) d) / (1 - e)))."""
    loop = feedback([1], [1, 1], relay(1, 0.1), delay=1)
    cycles: list[Cycle] = []
    assert follow_sloped(SlopedRun(loop, start_at(loop, np.array([0.4]))), cycles) == "cycle"
    decay = np.exp(-1.0)
    assert cycles[0].period == pytest.approx(2 * (1 + np.log((2 - 0.9 * decay) / 0.9)), rel=1e-9)
    assert cycles[0].highest[0] == pytest.approx(1 - 0.9 * decay, rel=1e-9)


@pytest.mark.slow
def test_uncoupled_loops_of_different_kinds_keep_their_own_cycles() -> None:
    """A relay with hysteresis beside a saturation at rest: the run is that of the relay alone."""
    elements: list[Element] = [relay(1, 0.1), saturation(0.5, 1)]
    both = system([[-1, 0], [0, -1]], [[-1, 0], [0, -1]], [[1, 0], [0, 1]], elements, delays=[1.0, 0.4])
    (cycle,) = cycle_from(both, start_at(both, np.array([0.4, 0.0]))).attracting
    single = feedback([1], [1, 1], relay(1, 0.1), delay=1)
    (alone,) = cycle_from(single, start_at(single, np.array([0.4]))).attracting
    assert cycle.period == pytest.approx(alone.period, rel=1e-8)
    assert (cycle.lowest[1], cycle.highest[1]) == pytest.approx((0, 0), abs=1e-9)


@pytest.mark.slow
def test_a_run_that_comes_to_its_cycle_slowly_is_measured_on_the_cycle() -> None:
    """Just above the gain at which it begins to swing, from inside and from outside: one cycle."""
    loop = feedback([2.28], [1, 1], saturation(1, 1), delay=1)
    found: list[Cycle] = []
    for start in (0.05, 6.0):
        cycles: list[Cycle] = []
        assert follow_sloped(SlopedRun(loop, start_at(loop, np.array([start]))), cycles) == "cycle"
        found += cycles
    inside, outside = found
    assert inside.highest[0] == pytest.approx(outside.highest[0], rel=1e-4)
    assert inside.period == pytest.approx(outside.period, rel=1e-4)
