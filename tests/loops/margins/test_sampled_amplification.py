"""Amplification of sampled systems: closed forms of ordering policies, and impulse responses by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from coherence.base.errors import UsageError
from coherence.loops.margins.sampled_amplification import amplified, lap_between
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.networks.network import Block, Coupling
from tests.draws import few


def orders(lead: int, weight: float, count: int = 1) -> Multirate:
    """Returns stages that order what was sold plus the change of their level, by exponential smoothing."""
    law = (1 + lead * weight, -(1 - weight) - lead * weight), (1.0, -(1 - weight))
    samplers = [Sampler(f"s{k}", *law) for k in range(count)]
    return checked(samplers, (), [Coupling(f"s{k}", f"s{k + 1}") for k in range(count - 1)])


@settings(max_examples=few(30), deadline=None)
@given(st.integers(1, 8), st.floats(0.05, 0.95))
def test_smoothed_orders_have_the_closed_forms_of_chen(lead: int, weight: float) -> None:
    """1 + 2 L a + 2 L^2 a^2 / (2 - a), and 1 + 2 L a / (2 - a) at the Nyquist frequency."""
    answer = amplified(orders(lead, weight), "s0", "s0")
    variance = 1 + 2 * lead * weight + 2 * (lead * weight) ** 2 / (2 - weight)
    assert answer.variance_ratio == pytest.approx(variance, rel=1e-9)
    assert answer.peak.value == pytest.approx(1 + 2 * lead * weight / (2 - weight), rel=1e-9)
    assert answer.peak.frequency == pytest.approx(np.pi, rel=1e-6)
    assert answer.peak.certified


def test_stages_multiply_their_peak_and_not_their_variance() -> None:
    one, four = (amplified(orders(4, 0.3, count), "s0", f"s{count - 1}") for count in (1, 4))
    assert four.peak.value == pytest.approx(one.peak.value**4, rel=1e-9)
    pulse = np.eye(1, 400)[0]
    for _ in range(4):
        pulse = lfilter([2.2, -1.9], [1, -0.7], pulse)
    assert four.variance_ratio == pytest.approx(float(pulse @ pulse), rel=1e-9)


def test_a_loop_of_two_rates_answers_as_its_recursion() -> None:
    """A plant of 1/s behind a sampler of 1 s, whose command another one of 2 s reads."""
    system = checked(
        [Sampler("fast", (-0.5,), period=1.0, rank=1), Sampler("slow", (1.0,), period=2.0, rank=2)],
        [Block("plant", (1.0,), (1.0, 0.0))],
        [Coupling("fast", "plant"), Coupling("plant", "fast"), Coupling("plant", "slow")],
    )
    lap = lap_between(system, "fast", "slow")
    assert lap.b.shape[1] == 2
    sums = np.zeros(2)
    for at in (0, 1):  # a reading of 1 too much at time `at` of the lap: x+ = x - (x + v) / 2
        x, seen = 0.0, []
        for time in range(60):
            seen += [x] if time % 2 == 0 else []
            x = x - 0.5 * (x + (1.0 if time == at else 0.0))
        sums[at] = np.sum(np.square(seen))
    assert amplified(system, "fast", "slow").variance_ratio == pytest.approx(sums.sum(), rel=1e-9)


def test_what_has_no_amplification_is_refused_with_its_reason() -> None:
    with pytest.raises(UsageError, match="not stable"):
        amplified(checked([Sampler("a", (1.0,), (1.0, -1.1))]), "a", "a")
    with pytest.raises(UsageError, match="name a sampled block"):
        lap_between(orders(4, 0.3), "s9", "s0")
    with pytest.raises(UsageError, match="neither sampled nor a block"):
        lap_between(orders(4, 0.3), "s0", "s9")
