"""Ratios of selfish and hasty decisions, against all settled choices of small games and a linear program over games."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from coherence.minimums.bounds.list_scheduling_ratio import makespan
from coherence.minimums.floors import at
from coherence.minimums.registry import entry

JOBS = st.lists(st.integers(1, 12), min_size=1, max_size=7)


def ratio(name: str, **inputs: int) -> float:
    return float(at(entry(name).bound, {key: Fraction(value) for key, value in inputs.items()}))


def placements(jobs: list[int], servers: int) -> list[tuple[tuple[int, ...], list[int]]]:
    """Returns each placement of the jobs with the servers' loads."""
    all_of_them = itertools.product(range(servers), repeat=len(jobs))
    return [
        (to, [sum(j for j, s in zip(jobs, to, strict=True) if s == k) for k in range(servers)]) for to in all_of_them
    ]


@given(jobs=JOBS, servers=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_no_settled_placement_is_worse_than_its_ratio(jobs: list[int], servers: int) -> None:
    placed = placements(jobs, servers)
    best = min(max(loads) for _, loads in placed)
    for to, loads in placed:
        if all(loads[at_] <= load + job for job, at_ in zip(jobs, to, strict=True) for k, load in enumerate(loads)
               if k != at_):  # fmt: skip
            assert max(loads) <= ratio("selfish_placement_ratio", servers=servers) * best + 1e-9


@given(jobs=JOBS, servers=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_no_list_of_jobs_ends_later_than_its_ratio(jobs: list[int], servers: int) -> None:
    best = min(max(loads) for _, loads in placements(jobs, servers))
    assert makespan(jobs, servers) <= ratio("list_scheduling_ratio", servers=servers) * best + 1e-9


@pytest.mark.parametrize("users", [1, 2, 3])
def test_the_worst_game_of_a_linear_program_has_the_ratio_of_whole_users(users: int) -> None:
    """A thing is known by who uses it now and who does in the best plan; its latency is a x + b.

    Most of what is paid now, for a best total of one and nobody who gains by going over to its part of that plan.
    """
    uses = list(itertools.product((0, 1), repeat=users))
    paid, best, gains = [], [], []
    for now, plan in itertools.product(uses, repeat=2):
        for grows in (1, 0):
            latency = [float(x if grows else 1) for x in range(2 * users + 1)]
            paid.append(sum(now) * latency[sum(now)])
            best.append(sum(plan) * latency[sum(plan)])
            gains.append([here * latency[sum(now)] - there * latency[sum(now) - here + 1]
                          for here, there in zip(now, plan, strict=True)])  # fmt: skip
    found = linprog(-np.array(paid), A_ub=np.array(gains).T, b_ub=np.zeros(users), A_eq=[best], b_eq=[1.0])
    assert -found.fun == pytest.approx(ratio("whole_routing_ratio", users=users), rel=1e-7)


def settled(slopes: list[Callable[[float], float]]) -> list[float]:
    """Returns the shares of users that bid: u'(x) (1 - x) is the price for each that has a share, which add up to 1."""

    def share(slope: Callable[[float], float], price: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            x = (low + high) / 2
            low, high = (x, high) if slope(x) * (1 - x) > price else (low, x)
        return low

    low, high = 0.0, 1e3
    for _ in range(60):
        price = (low + high) / 2
        low, high = (price, high) if sum(share(slope, price) for slope in slopes) > 1 else (low, price)
    return [share(slope, high) for slope in slopes]


def slope_at(weight: float, bend: float, x: float) -> float:
    return weight * (1 - bend * x)


@pytest.mark.parametrize("users", [2, 3, 5])
def test_users_who_bid_lose_no_more_than_their_ratio(users: int) -> None:
    """Utilities w (x - c x^2/2) with 0 <= c <= 1: the best shares have one slope (of those that have a share)."""
    draws, worst = random.Random(users), 1.0  # noqa: S311  (a seeded run)
    for case in range(40):
        weights = [1.0, *(draws.uniform(0.2, 1) for _ in range(users - 1))]
        bends = [0.0 if case % 2 else draws.uniform(0, 1) for _ in range(users)]
        got = settled([partial(slope_at, w, c) for w, c in zip(weights, bends, strict=True)])

        def worth(shares: list[float], weights: list[float] = weights, bends: list[float] = bends) -> float:
            return sum(w * (x - c * x * x / 2) for w, c, x in zip(weights, bends, shares, strict=True))

        low, high = 0.0, 1.0
        best = [0.0] * users
        for _ in range(60):  # the common slope
            level = (low + high) / 2
            best = [min(1.0, max(0.0, (1 - level / w) / c)) if c else float(level < w) for w, c in
                    zip(weights, bends, strict=True)]  # fmt: skip
            low, high = (level, high) if sum(best) > 1 else (low, level)
        most = max(weights) if case % 2 else worth(best)
        worst = max(worst, most / worth(got))
        assert most <= ratio("shares_by_bids_ratio", users=users) * worth(got) * (1 + 1e-6)
    assert worst > 1.02


@pytest.mark.parametrize("price", [1, 2, 5, 9])
def test_the_best_rule_by_lot_of_a_linear_program_has_the_ratio_of_rent_or_buy(price: int) -> None:
    """Least ratio over chances of each day to buy, on every last day."""
    days = range(1, 2 * price + 1)
    rows = [
        [*(last if last < day else day - 1 + price for day in days), -min(last, price)] for last in range(1, 3 * price)
    ]
    least = linprog([0.0] * len(days) + [1.0], A_ub=rows, b_ub=[0.0] * len(rows), A_eq=[[1.0] * len(days) + [0.0]],
                    b_eq=[1.0])  # fmt: skip
    assert least.fun == pytest.approx(ratio("rental_by_lot_ratio", price=price), rel=1e-7)
