"""The test of interactions: its contrast is that of a two-by-two design."""

from __future__ import annotations

import pytest
from scipy.stats import ttest_1samp

from coherence.base.errors import UsageError
from coherence.causal.signatures.interactions import FourRuns, interaction

FOURS = (FourRuns(1.0, 2.0, 3.0, 6.5), FourRuns(1.0, 1.8, 3.1, 5.2), FourRuns(0.9, 2.1, 2.8, 4.9))


def test_p_and_interval_are_those_of_a_t_test_of_the_contrasts() -> None:
    own = interaction(FOURS)
    contrasts = [2.5, 1.3, 0.9]
    reference = ttest_1samp(contrasts, 0, alternative="greater")
    low, high = ttest_1samp(contrasts, 0).confidence_interval(0.99)
    assert own.p == pytest.approx(reference.pvalue)
    assert (own.parts["low"], own.parts["high"]) == pytest.approx((low, high))
    assert own.magnitude == pytest.approx((4.7 / 3) / ((3.0 + 2.9 + 3.1) / 3))


def test_one_four_is_too_few_and_changes_without_effect_are_refused() -> None:
    with pytest.raises(UsageError, match="two or more"):
        interaction(FOURS[:1])
    with pytest.raises(UsageError, match="neither change"):
        interaction([FourRuns(1.0, 1.0, 1.0, 1.0)] * 3)
