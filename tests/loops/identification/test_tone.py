"""The frequency of a steady tone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.loops.identification.tone import tone


@pytest.mark.parametrize("angle", [0.05, 0.3, 1.0, 3.0])
def test_a_pure_tone_is_found_between_the_lines_of_the_spectrum(angle: float) -> None:
    x = 4 + 2 * np.cos(angle * np.arange(300) + 0.3)
    steady = tone(x, angle + 1e-3)
    assert steady.angle == pytest.approx(angle, rel=1e-7)
    assert steady.share == pytest.approx(1)
    assert steady.error < 1e-6


def test_the_error_is_that_of_the_theorem_and_holds() -> None:
    """var = 24 S / (A^2 N^3) with S = sigma^2 for white noise."""
    size, sigma, misses = 400, 0.5, []
    for seed in range(30):
        x = np.cos(0.7 * np.arange(size)) + sigma * np.random.default_rng(seed).normal(size=size)
        steady = tone(x, 0.7)
        misses.append((steady.angle - 0.7) / steady.error)
        assert steady.error == pytest.approx(math.sqrt(24 * sigma**2 / size**3), rel=0.5)
    assert 0.6 < np.std(misses) < 1.5


def test_noise_alone_is_explained_by_no_tone() -> None:
    assert tone(np.random.default_rng(1).normal(size=500), 1.0).share < 0.1
