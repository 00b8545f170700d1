"""Margins of the samplers of a network: the same loop stated at once, and with the delay in its text."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.loops.analysis.sampled_network import sampled_figures
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.network import Block, Coupling


def two_rates(gain: float, other: float, delay: float, *, lands: Fraction = Fraction(0)) -> Multirate:
    """Returns a tank that two loops of 2 s and 3 s move."""
    samplers = [Sampler("fast", period=2.0, lands=lands), Sampler("slow", period=3.0)]
    plant = Block("tank", (1.0,), (1.0, 0.05), delay)
    return checked(
        samplers,
        [plant],
        [
            Coupling("fast", "tank"),
            Coupling("slow", "tank"),
            Coupling("tank", "fast", -gain),
            Coupling("tank", "slow", -other),
        ],
    )


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.floats(0.02, 0.2), st.floats(0.02, 0.1), st.floats(0.0, 2.0))
def test_a_loop_of_several_rates_is_stable_below_its_margins_and_not_beyond(
    gain: float, other: float, delay: float
) -> None:
    system = two_rates(gain, other, delay)
    assert floquet(system).verdict == "stable"
    figures = sampled_figures(system, "fast")
    assert figures.margins is not None
    assert figures.landing is not None
    edge = figures.margins.high
    assert floquet(two_rates(gain * edge.proved, other, delay)).verdict == "stable"
    if edge.beyond is not None:
        assert floquet(two_rates(gain * edge.beyond * 1.0001, other, delay)).verdict == "unstable"
    assert floquet(two_rates(gain, other, delay, lands=figures.landing.stable)).verdict == "stable"
    if figures.landing.unstable is not None:
        assert floquet(two_rates(gain, other, delay, lands=figures.landing.unstable)).verdict != "stable"


def test_a_sampler_with_one_plant_has_one_delay_margin_wherever_the_delay_stands() -> None:
    system = checked(
        [Sampler("scaler", period=15.0)],
        [Block("queue", (0.05,), (1.0, 0.0), 10.0)],
        [Coupling("scaler", "queue"), Coupling("queue", "scaler", -1.0)],
    )
    figures = sampled_figures(system, "scaler")
    assert figures.landing is not None
    assert figures.reading is not None
    assert figures.landing.unstable == figures.reading.unstable
    (queue,) = system.blocks
    later = replace(system, blocks=(replace(queue, delay=10.0 + float(figures.landing.stable)),))
    assert floquet(later).verdict == "stable"
    assert figures.gain_high == pytest.approx(2.0, rel=1e-6)
