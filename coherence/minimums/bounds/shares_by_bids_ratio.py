"""shares by bids: what is lost where a resource is divided in proportion to bids of users who know what bids do.

## What
With n users the best total utility is at most (1 + s)^2/(1 + 2 s) times that of the users' own choice, s^2 = (n - 1)/n:
1.207 for two, and 4/3 for ever more of them.  One user of utility x and n - 1 of utility x s/(1 + s) attain it.

## Why it matters
Bids (credits, weights, spot prices) need no planner that knows what a resource is worth to whom; this is the most that
such a planner would win.

## Example
Two users: 1.207.  Ever more users: 4/3, three quarters of the best.

## Source
R. Johari and J. Tsitsiklis, "Efficiency loss in a network resource allocation game", Mathematics of Operations Research
29(3), 2004, 407-435 (4/3, and that linear utilities are the worst); for n users by the proof here.
"""

from __future__ import annotations

import math

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)


def least_utility() -> Checked:
    """Checks that 1 - q + k q^2/(k - q) exceeds (1 + 2 s)/(1 + s)^2 by a square, whatever q < k the others get.

    The user of utility x has 1 - q, and its price is q; of k others each has q/k and is worth q/(1 - q/k) to itself
    (shares that differ are worth more: x/(1 - x) is convex).
    """
    import sympy as sp

    s, q = sp.symbols("s q", positive=True)
    k = s**2 / (1 - s**2)
    more = (1 - q) * (k - q) + k * q**2 - (k - q) * (1 + 2 * s) / (1 + s) ** 2
    return Checked(sp.simplify(more - (k + 1) * (q - k * (1 - s)) ** 2) == 0, "what is above the least is a square")


def bids(inputs: Inputs) -> float:
    """Lets each user bid until its utility's slope times what others have is the price: one of slope 1, n - 1 alike."""
    others = int(inputs["users"]) - 1
    if others == 0:
        return 1.0
    s = math.sqrt(others / (others + 1))
    slope = s / (1 + s)
    price = others / (1 + others / slope)  # shares 1 - price/slope add up to 1
    return 1 / (1 - price + others * slope * (1 - price / slope))


BOUND = Bound(
    name="shares_by_bids_ratio",
    group="selfish decisions",
    quantity="largest ratio of best total utility to that of users who bid",
    unit="1",
    kind=Status.UPPER,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(Symbol("users", "1", "users that bid", Trend.RISES, least=1, whole=True, sign="n"),),
    formula="power(1 + power((users - 1) / users, 1 / 2), 2) / (1 + 2 * power((users - 1) / users, 1 / 2))",
    assumptions=("settled_choices", "shares_of_bids", "concave_utility"),
    source="Johari and Tsitsiklis 2004",
    examples=(
        Example({"users": 1_000_000}, 4 / 3, "published, for ever more users", 1e-6),
        Example({"users": 2}, (math.sqrt(2) + 1) / 2, "by hand"),
        Example({"users": 1}, 1.0, "nobody else"),
    ),
    proofs=(Recheck("identity", "the least total utility of linear users", least_utility, ProofGrade.PART),),
    witness=Witness("one user of slope 1 and others alike", bids),
    telemetry=("users",),
    unread="no key states that users bid for shares",
)
