"""Parts that tests for signatures share, beside their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from coherence.causal.signatures.signature import above, batch_means, slope


def test_above_is_the_one_sided_t_test() -> None:
    values = np.array([0.3, 1.2, -0.4, 0.9, 2.0])
    assert above(values, 0.1) == pytest.approx(ttest_1samp(values, 0.1, alternative="greater").pvalue)


def test_values_that_are_all_alike_are_above_only_what_is_less() -> None:
    assert above(np.full(5, 0.2), 0.1) == 0.0
    assert above(np.full(5, 0.1), 0.1) == 1.0
    assert above(np.array([3.0])) == 1.0


def test_batches_have_the_means_of_their_times() -> None:
    means = batch_means(np.array([0.0, 1.0, 2.0, 9.0]), np.array([1.0, 3.0, 5.0, 7.0]), np.array([0.0, 2.0, 4.0, 6.0]))
    assert means[:2].tolist() == [2.0, 5.0]
    assert np.isnan(means[2])


def test_a_slope_has_its_interval() -> None:
    drawn = np.random.default_rng(1).standard_normal(30)
    assert 0.5 in slope(drawn + 0.5 * np.arange(30))
    assert 0.0 not in slope(drawn + 0.5 * np.arange(30))
