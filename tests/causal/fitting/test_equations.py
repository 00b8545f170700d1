"""Delays in steps: which of those that a design allows the data point at."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.causal.data.series import Series
from coherence.causal.fitting.equations import delays_of
from coherence.causal.fitting.graph import CausalGraph, Influence


@pytest.mark.parametrize("late", [19, 20, 21, 500])
@pytest.mark.parametrize("cause", ["a", "b"])
@pytest.mark.parametrize("wide", [1, 3, 900])
def test_a_declared_delay_as_long_as_the_record_is_kept_and_no_error(late: int, cause: str, wide: int) -> None:
    values = np.random.default_rng(1).normal(size=(20, 2))
    influence = Influence(cause, "b", Fraction(late), Fraction(late + wide), either=True)
    delays = delays_of(Series(("a", "b"), values, 1.0), CausalGraph(("a", "b"), (influence,)))
    assert delays == {(cause, "b"): (late,)}


def test_of_a_long_range_the_delay_is_taken_at_which_the_effect_follows() -> None:
    cause = np.random.default_rng(2).normal(size=400).cumsum()
    effect = np.concatenate([np.zeros(37), cause[:-37]])
    influence = Influence("a", "b", Fraction(0), Fraction(60))
    series = Series(("a", "b"), np.column_stack([cause, effect]), 1.0)
    assert delays_of(series, CausalGraph(("a", "b"), (influence,))) == {("a", "b"): (37,)}
