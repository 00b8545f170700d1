from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.couplings import couplings
from coherence.causal.graph import Graph, Influence
from coherence.causal.series import Series
from tests.causal.systems import graph, late, table, wandering

WAYS = graph(Influence("a", "lost"))


def noisy(seed: int, coupled: float, memory: float = 0.9) -> Series:
    """`lost` follows `a`, and 20 signals that remember their past are beside it; the first acts on it if `coupled`."""
    rng = np.random.default_rng(seed)
    others = {f"n{number}": wandering(rng, 3000, memory) for number in range(20)}
    a = wandering(rng, 3000, 0.7)
    lost = 0.8 * a + wandering(rng, 3000, memory) + coupled * np.roll(others["n0"], 1)
    return table(a=a, lost=lost, **others)


@pytest.mark.parametrize("seed", range(4))
def test_an_undeclared_influence_is_found_with_its_delay_and_strength(seed: int) -> None:
    tested = couplings(noisy(seed, 0.3), WAYS)
    assert [(one.cause, one.effect, one.lag) for one in tested.found] == [("n0", "lost", 1)]
    assert 0.3 in tested.found[0].strength
    assert tested.tests == 20


def test_signals_that_remember_their_past_are_not_taken_for_causes() -> None:
    """Naive tests choose 8.6 of 20 here; at most one run of twenty may choose any."""
    wrong = sum(bool(couplings(noisy(seed, 0.0, 0.95), WAYS).found) for seed in range(20))
    assert wrong <= 1


def test_a_placebo_finds_nothing() -> None:
    tested = couplings(noisy(1, 0.3), WAYS, placebo=True)
    assert tested.found
    assert tested.placebo == 0


def test_effects_and_what_comes_before_the_causes_are_no_couplings() -> None:
    rng = np.random.default_rng(3)
    root = wandering(rng, 3000, 0.6)
    cause = 2 * root + wandering(rng, 3000, 0.6)
    effect = cause + wandering(rng, 3000, 0.6)
    after = np.roll(effect, 1) + wandering(rng, 3000, 0.6)
    ways = graph(Influence("root", "cause"), Influence("cause", "effect"), late("effect", "after"))
    assert couplings(table(root=root, cause=cause, effect=effect, after=after), ways).found == ()


def test_of_a_chain_only_the_direct_influence_is_told() -> None:
    rng = np.random.default_rng(4)
    a, far = wandering(rng, 4000, 0.5), wandering(rng, 4000, 0.5)
    near = far + wandering(rng, 4000, 0.5, 0.5)
    lost = a + np.roll(near, 1) + wandering(rng, 4000, 0.5)
    found = couplings(table(a=a, far=far, near=near, lost=lost), WAYS).found
    assert [one.cause for one in found] == ["near"]


def test_nothing_declared_is_nothing_tested() -> None:
    assert couplings(table(a=np.arange(9.0), b=np.arange(9.0) ** 2), Graph(("a", "b"), ())).tests == 0
