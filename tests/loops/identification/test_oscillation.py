"""Oscillations in telemetry at the edges: periods near two samples, and lines narrower than the series resolves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from coherence.loops.identification.oscillation import Oscillation, Silence, oscillation

# two resonances next to each other: one root pair at +4e-10, which rounding moves to -1.4e-9
# three of them and a lag: a root pair at +2.8e-8, computed at -5.1e-7


class TestIdentification:
    @pytest.mark.parametrize("count", [200, 201])
    def test_a_series_that_turns_at_every_sample_has_no_period(self, count: int) -> None:
        found = oscillation([(-1.0) ** k for k in range(count)], 1.0)
        assert isinstance(found, Silence)

    def test_a_period_near_two_samples_is_still_found(self) -> None:
        noise = 0.1 * np.random.default_rng(0).normal(size=300)
        found = oscillation(np.sin(2 * np.pi * np.arange(300) / 2.1) + noise, 1.0)
        assert isinstance(found, Oscillation)
        assert found.period.value == pytest.approx(2.1, rel=1e-2)


@pytest.mark.slow
def test_a_long_coherence_does_not_make_the_period_too_certain() -> None:
    """The search once ended beside the mode, at a period of 25 with an interval of 1."""
    period, coherence, covered = 20.0, 200, 0
    rng, r = np.random.default_rng(7), math.exp(-1 / 200)
    for _ in range(4):
        x = lfilter([1], [1, -2 * r * math.cos(math.tau / period), r * r], rng.standard_normal(400 + 20 * coherence))
        x = x[-400:] / x[-400:].std() + 0.2 * rng.standard_normal(400)
        mode = oscillation(x, 1.0)
        assert isinstance(mode, Oscillation)
        assert abs(mode.period.value - period) < 2
        covered += mode.period.low <= period <= mode.period.high
    assert covered == 4
