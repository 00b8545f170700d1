"""The test of inaccessible: its numbers by another way, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f_oneway

from coherence.base.errors import UsageError
from coherence.causal.signatures.inaccessible import inaccessible


def test_the_ratio_is_that_of_scipy() -> None:
    drawn = [np.random.default_rng(k).normal(k / 3, 1, 5) for k in range(4)]
    found = inaccessible(drawn)
    theirs = f_oneway(*drawn)
    assert found.parts["F"] == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue)


def test_one_placement_is_compared_with_nothing() -> None:
    with pytest.raises(UsageError, match="two or more"):
        inaccessible([np.ones(5)])
