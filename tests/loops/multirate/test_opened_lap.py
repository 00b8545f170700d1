"""One lap opened at a sampler, beside polynomials by hand and a simulation that shares no code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.multirate.lifting import lift
from coherence.loops.multirate.opened_lap import OpenedLap, opened_lap
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.networks.network import Block, Coupling


def lag_loop(gain: float, rate: float, delay: float, lands: float) -> Multirate:
    """Returns a sampler that answers -gain times 1 / (s + rate) exp(-s delay) each second."""
    plant = Block("plant", (1.0,), (1.0, rate), delay)
    return checked([Sampler("c", lands=lands)], [plant], [Coupling("c", "plant"), Coupling("plant", "c", -gain)])


def response(lap: OpenedLap, z: complex) -> complex:
    a, b, c, d = lap.loop
    return complex((c @ np.linalg.solve(z * np.eye(len(a)) - a, b) + d)[0, 0])


def test_an_integrator_under_a_hold_is_k_over_z_minus_one() -> None:
    lap = opened_lap(lag_loop(0.5, 0.0, 0.0, 0.0), "c")
    for z in (2.0, 1j, -0.3 + 0.4j):
        assert response(lap, z) == pytest.approx(0.5 / (z - 1))


def test_a_delay_of_a_part_of_a_step_has_the_textbook_s_two_terms() -> None:
    """Astrom and Wittenmark 3.3: 1/s with delay 0.25 of a step is (0.75 z + 0.25) / (z (z - 1))."""
    lap = opened_lap(lag_loop(1.0, 0.0, 0.25, 0.0), "c")
    for z in (2.0, 1j, -0.3 + 0.4j):
        assert response(lap, z) == pytest.approx((0.75 * z + 0.25) / (z * (z - 1)))


def test_a_mean_over_a_window_is_read_exactly() -> None:
    """1/s under a hold, read as the mean of the last step: the mean of a ramp is half a step late."""
    system = checked([Sampler("c", window=1.0)], [Block("p", (1.0,), (1.0, 0.0))],
                     [Coupling("c", "p"), Coupling("p", "c", -1)])  # fmt: skip
    lap = opened_lap(system, "c")
    for z in (2.0, 1j, -0.3 + 0.4j):
        assert response(lap, z) == pytest.approx((z + 1) / (2 * z * (z - 1)))


def test_two_instants_in_a_lap_are_two_inputs_and_two_outputs() -> None:
    plant = Block("plant", (1.0,), (1.0, 0.0))
    system = checked([Sampler("fast"), Sampler("slow", period=2.0)], [plant], [
        Coupling("fast", "plant"), Coupling("slow", "plant"), Coupling("plant", "fast", -0.3),
        Coupling("plant", "slow", -0.1)])  # fmt: skip
    lap = opened_lap(system, "fast")
    assert lap.d.shape == (2, 2)
    assert lap.period == 2
    closed = np.sort(np.abs(np.linalg.eigvals(lap.sensitivity[0])))
    assert closed[-1] == pytest.approx(np.abs(np.linalg.eigvals(lift(system).floats)).max())


def test_an_unknown_sampler_is_refused_with_what_is_near() -> None:
    with pytest.raises(UsageError, match="did you mean 'c'"):
        opened_lap(lag_loop(1, 1, 0, 0), "cc")


def simulated(gain: float, rate: float, delay: float, lands: float, steps: int) -> list[float]:
    """Returns what the sampler takes after a step of 1 on its reading, by the solution between changes."""
    changes: list[tuple[float, float]] = []  # (when it reaches the plant's output, command)
    level, clock, held, taken = 0.0, 0.0, 0.0, []
    for k in range(steps):
        while changes and changes[0][0] <= k:
            level, clock = moved(level, held, rate, changes[0][0] - clock), changes[0][0]
            held = changes.pop(0)[1]
        level, clock = moved(level, held, rate, k - clock), float(k)
        taken.append(1.0 - gain * level)
        changes.append((k + lands + delay, taken[-1]))
    return taken


def moved(level: float, held: float, rate: float, seconds: float) -> float:
    if not rate:
        return level + held * seconds
    return level * math.exp(-rate * seconds) + held * (1 - math.exp(-rate * seconds)) / rate


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.05, 1.5), st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from([0.0, 0.25, 1.0, 2.5]),
    st.sampled_from([0.0, 0.5, 1.0]),
)  # fmt: skip
def test_the_sensitivity_is_what_a_simulation_takes_after_a_step(
    gain: float, rate: float, delay: float, lands: float
) -> None:
    a, b, c, d = opened_lap(lag_loop(gain, rate, delay, lands), "c").sensitivity
    x, taken = np.zeros(len(a)), []
    for _ in range(12):
        taken.append(float((c @ x + d[:, 0])[0]))
        x = a @ x + b[:, 0]
    assert taken == pytest.approx(simulated(gain, rate, delay, lands, 12), rel=1e-9, abs=1e-9)
