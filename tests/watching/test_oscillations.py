"""The share of one period: a sine, noise, a line, gaps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.watching.oscillations import LENGTH, period_share


def test_a_sine_is_one_period_with_its_amplitude() -> None:
    values = 5 + 3 * np.sin(2 * np.pi * np.arange(LENGTH) / 16)
    share = period_share(values, 15.0)
    assert share.share > 0.99
    assert share.period == pytest.approx(240.0)
    assert share.amplitude == pytest.approx(3.0, rel=0.01)


def test_noise_and_lines_are_none() -> None:
    assert period_share(np.random.default_rng(1).normal(size=LENGTH), 15.0).share < 0.2
    assert period_share(np.linspace(0, 9, LENGTH), 15.0).share == 0
    assert period_share(np.full(LENGTH, 7.0), 15.0).share == 0


def test_gaps_are_filled_where_they_are_few() -> None:
    values = 5 + 3 * np.sin(2 * np.pi * np.arange(LENGTH) / 16)
    values[::9] = math.nan
    assert period_share(values, 15.0).period == pytest.approx(240.0)
    values[::2] = math.nan
    assert period_share(values, 15.0).share == 0
