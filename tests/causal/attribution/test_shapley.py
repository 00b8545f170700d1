"""Shapley values against their definition, and the laws that make them what they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.causal.attribution.shapley import dividends, members, refuse_many, shapley
from tests.causal.attribution.orders import by_orders

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 10**6)


def game(players: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=1 << players)


@settings(max_examples=60, deadline=None)
@given(SIZES, SEEDS)
def test_it_is_the_mean_marginal_contribution_over_all_orders(players: int, seed: int) -> None:
    values = game(players, seed)
    direct = by_orders(lambda there: float(values[sum(1 << p for p in there)]), players)
    assert np.allclose(shapley(values), direct, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(SIZES, SEEDS)
def test_shares_sum_to_what_everybody_is_worth(players: int, seed: int) -> None:
    values = game(players, seed)
    assert shapley(values).sum() == pytest.approx(values[-1] - values[0], abs=1e-12)
    assert dividends(values).sum() == pytest.approx(values[-1], abs=1e-12)


def test_dividends_of_a_product_are_the_pair_alone() -> None:
    found = dividends(np.array([0.0, 0.0, 0.0, 6.0]))
    assert found.tolist() == [0, 0, 0, 6]
    assert shapley(np.array([0.0, 0.0, 0.0, 6.0])).tolist() == [3, 3]


def test_dividends_by_hand() -> None:
    # v = a + 2 b + 5 ab with a = bit 0, b = bit 1
    assert dividends(np.array([0.0, 1.0, 2.0, 8.0])).tolist() == [0, 1, 2, 5]


def test_several_games_at_once_are_each_game_alone() -> None:
    games = np.stack([game(4, seed) for seed in range(3)])
    assert np.allclose(shapley(games), [shapley(one) for one in games])


def test_a_player_that_changes_nothing_gets_nothing() -> None:
    values = np.repeat(game(3, 1), 2)  # bit 0 changes nothing
    assert shapley(values)[0] == pytest.approx(0, abs=1e-12)


def test_members_are_the_bits() -> None:
    assert members(0b1011, 4) == (0, 1, 3)


def test_thirteen_players_are_refused_and_twelve_are_not() -> None:
    refuse_many([f"p{n}" for n in range(12)])
    with pytest.raises(UsageError, match=r"13 causes .*put players into groups"):
        refuse_many([f"p{n}" for n in range(13)])
