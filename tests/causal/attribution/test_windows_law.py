"""Two windows of one law: the change is within noise as often as promised, and a shift of the input is beyond it."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.attribution.windows import WindowComparison, compare
from coherence.causal.fitting.graph import Influence
from tests.causal.systems import graph, table, wandering

WAYS = graph(Influence("a", "y"))


def compared(seed: int, shift: float, memory: float = 0.6, rows: int = 1000) -> WindowComparison:
    rng = np.random.default_rng(seed)
    windows = []
    for moved in (0.0, shift):
        a = wandering(rng, rows, memory) + 3 + moved
        windows.append(table(a=a, y=2 * a + wandering(rng, rows, memory)))
    before, after = windows
    return compare(before, after, WAYS, "y")


@pytest.mark.slow
def test_nothing_changed_is_within_noise() -> None:
    """40 pairs of one law: at 95 % about two are beyond noise, and of the parts about four of eighty."""
    beyond = parts = 0
    for seed in range(40):
        found = compared(seed, 0.0)
        assert found.change is not None
        beyond += 0 not in found.change
        parts += sum(one.law is not None and 0 not in one.law for one in found.contributions)
    assert beyond <= 6
    assert parts <= 11


@pytest.mark.parametrize("seed", range(3))
def test_an_input_that_moved_is_beyond_noise_with_its_amount(seed: int) -> None:
    found = compared(seed, 2.0)
    part = {one.cause: one for one in found.contributions}["a"]
    assert part.law is not None
    assert 4.0 in part.law
    assert 0 not in part.law
    assert part.law.error > part.amount.error  # the means are uncertain too
    assert found.change is not None
    assert found.change.value == pytest.approx(found.after - found.before)


def test_of_the_level_of_a_random_walk_nothing_is_told() -> None:
    found = compared(1, 0.0, memory=1.0, rows=400)
    assert found.change is None
    assert all(one.law is None for one in found.contributions)
