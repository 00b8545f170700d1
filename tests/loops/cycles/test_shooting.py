"""Exact cycles by Newton's method on words: a relay over an integrator with delay, in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coherence.loops.cycles.cycle_search_result import Cycle
from coherence.loops.cycles.delayed_runs import Run, RunEvent, Segment, start_at
from coherence.loops.cycles.describing_functions import Guess, screen
from coherence.loops.cycles.relay import System, feedback, on_off, relay
from coherence.loops.cycles.shooting import (
    ShootingStep,
    ShootingWord,
    Solution,
    confirmed,
    delay_of,
    multipliers,
    ranges,
    solve,
    start_of,
    word_of,
)
from coherence.loops.cycles.starts import beside, default_starts, line_of, sinusoidal_start
from coherence.loops.cycles.word_search import cycle_of, follow, near

TRIANGLE = feedback([0.05], [1, 0], relay(1), delay=30)  # period 4 * 30, from -1.5 to 1.5


def solution(loop: System, start: float = 0.3) -> Solution:
    cycles: list[tuple[Cycle, Solution]] = []
    end, _ = follow(loop, start_at(loop, np.array([start])), cycles, 400)
    assert end == "cycle"
    return cycles[0][1]


def test_a_run_comes_to_the_triangle() -> None:
    exact = solution(TRIANGLE)
    assert exact.period == pytest.approx(120, rel=1e-12)
    assert ranges(TRIANGLE, exact)[0] == pytest.approx((-1.5, 1.5), rel=1e-12)
    cycle = cycle_of(TRIANGLE, exact)
    assert cycle.duty == pytest.approx((0.5,))
    assert cycle.switches == 2


def test_newton_finds_it_again_from_a_rough_guess_and_refuses_a_word_that_cannot_close() -> None:
    exact = solution(TRIANGLE)
    rough = solve(TRIANGLE, exact.word, exact.z * 1.05, [1.1 * d for d in exact.durations])
    assert rough is not None
    assert rough.durations == pytest.approx(exact.durations, rel=1e-10)
    loaded = feedback([0.05], [1, 0], relay(1), delay=30, load=2.0)  # more than the relay takes away
    assert solve(loaded, exact.word, exact.z, exact.durations) is None


def test_a_run_confirms_the_solution_and_contradicts_a_changed_one() -> None:
    exact = solution(TRIANGLE)
    assert confirmed(TRIANGLE, exact)
    assert not confirmed(TRIANGLE, replace(exact, durations=tuple(1.01 * d for d in exact.durations)))
    assert not confirmed(TRIANGLE, replace(exact, z=exact.z + np.array([0.2, 0.0])))


def test_the_start_of_a_period_carries_the_commands_on_their_way() -> None:
    exact = solution(TRIANGLE)
    start = start_of(TRIANGLE, exact)
    assert start.seen == exact.word.seen
    assert [pending.time for pending in start.pending] == pytest.approx([30.0])


def test_a_lag_under_a_relay_forgets_by_its_own_pole() -> None:
    """x' = -x - sign(x(t - 1)): the return map of a relay with delay forgets a deviation within one period."""
    loop = feedback([1], [1, 1], relay(1, 0.1), delay=1)
    values = multipliers(loop, solution(loop))
    assert values[0] < 1e-6


def test_delays_up_and_down_may_differ() -> None:
    loop = feedback([0.05], [1, 0], on_off(1, -1, on=1.0, off=-1.0), delay=(10.0, 30.0))
    exact = solution(loop)
    crossings = [step for step in exact.word.steps if step.event.source is None]
    assert sorted(delay_of(loop, exact.word, step) for step in crossings) == [10.0, 30.0]


def test_a_word_begins_after_a_crossing_and_counts_periods_back() -> None:
    segments: list[Segment] = []
    run = Run(TRIANGLE, start_at(TRIANGLE, np.array([0.3])))
    for segment in run:
        segments.append(segment)
        if run.number >= 6:
            break
    ends = [k for k, segment in enumerate(segments) if segment.event.source is None]
    word = word_of(segments[ends[-3] + 1 : ends[-1] + 1])
    assert word.steps[-1].event.source is None
    assert {step.periods for step in word.steps if step.event.source is not None} <= {0, 1}


def test_starts_lie_on_either_side_of_the_thresholds_at_several_scales() -> None:
    places = [float(start.z[0]) for start in default_starts(TRIANGLE)]
    assert min(places) < 0 < max(places)
    assert max(map(abs, places)) > 20 * min(map(abs, places))
    assert len(list(beside(TRIANGLE, screen(TRIANGLE)))) == 4


def test_the_start_of_a_screened_swing_is_near_its_cycle() -> None:
    guess = Guess(0.0, 1.5, 120.0)
    start = sinusoidal_start(TRIANGLE, guess)
    assert abs(float(TRIANGLE.matrices[2][0] @ start.z[:1])) <= 1.6
    cycles: list[tuple[Cycle, Solution]] = []
    near(TRIANGLE, guess, cycles)
    assert [cycle.period for cycle, _ in cycles] == pytest.approx([120])


def test_the_line_of_a_level_is_flat_for_a_relay() -> None:
    assert line_of(relay(2.0), 0) == (0.0, -2.0)
    assert line_of(relay(2.0), 1) == (0.0, 2.0)


def test_a_run_of_no_time_is_no_period() -> None:
    """Two crossings of one threshold: both are met, and the period closes, where nothing takes any time."""
    instant = feedback([0.05], [1, 0], relay(1))
    for levels, state, guess in (((0, 1), 0.0, [1.0, 2.0]), ((1, 0), 0.3, [1e-3, 1e-3])):
        before, after = levels
        first = ShootingStep((before,), RunEvent(0, after, 0.0, acts=True))
        second = ShootingStep((after,), RunEvent(0, before, 0.0, acts=True))
        assert solve(instant, ShootingWord((before,), (first, second)), np.array([state, 1.0]), guess) is None
