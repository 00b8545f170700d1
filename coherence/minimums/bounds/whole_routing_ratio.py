"""anarchy of whole users: how much worse selfish routing can be where each user takes one way with all it has.

## What
With latencies that grow linearly with the number of users, a choice from which nobody gains by a move of its own has
at most min(n, 5/2) times the best total latency of n users; games of two and three users attain it.  With users that
are a continuum it is 4/3 (`price_of_anarchy`).

## Why it matters
A few large clients lose more by choosing for themselves than many small ones do: central assignment can win more.

## Example
Two users: 2.  Three or more: 2.5.

## Source
G. Christodoulou and E. Koutsoupias, "The price of anarchy of finite congestion games", STOC 2005, 67-73; B. Awerbuch,
Y. Azar and A. Epstein, "The price of routing unsplittable flow", STOC 2005, 57-66.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

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
from coherence.minimums.bounds._inductions import refuted

Way = Sequence[str]
# What each user takes, and would take in the best plan; latency of a thing is its weight times its users.
TWO = ({"a1": 2, "a2": 2, "b1": 1, "b2": 1}, (("a2", "b1", "b2"), ("a1", "b1", "b2")), (("a1", "b1"), ("a2", "b2")))
THREE = (
    dict.fromkeys(("g0", "g1", "g2", "h0", "h1", "h2"), 1),
    tuple((f"g{(i + 1) % 3}", f"h{(i + 1) % 3}", f"h{(i + 2) % 3}") for i in range(3)),
    tuple((f"g{i}", f"h{i}") for i in range(3)),
)


def deviated() -> Checked:
    """Shows y (z + 1) <= 5/3 y^2 + 1/3 z^2 for whole y, z >= 0 (of y users in the best plan and z that are there).

    Summed over all things, what users would pay for the ways of the best plan is no more than 5/3 of the best total
    and 1/3 of what they pay; as nobody gains by a move, they pay no more than that.
    """
    more = "(> (* 3.0 (* y (+ z 1.0))) (+ (* 5.0 (* y y)) (* z z)))"
    none, several = ("(>= z 0.0)", "(= y 0.0)", more), ("(>= z 0.0)", "(>= y 2.0)", more)
    single = ("(>= z 0.0)", "(= y 1.0)", "(or (<= z 1.0) (>= z 2.0))", more)
    summed = ("(>= best 0.0)", "(<= (* 3.0 would) (+ (* 5.0 best) paid))", "(<= paid would)",
             "(> (* 2.0 paid) (* 5.0 best))")  # fmt: skip
    names = ("y", "z", "best", "would", "paid")
    return refuted("each thing of the best plan, and their sum", "QF_NRA", names, none, single, several, summed)


def of_two() -> Checked:
    """Lists which of two users take a thing now and in the best plan: ways of that plan would cost twice it at most."""
    uses = tuple(itertools.product((0, 1), repeat=2))
    for now, plan in itertools.product(uses, repeat=2):
        would = sum(wants * (sum(now) - there + 1) for wants, there in zip(plan, now, strict=True))
        if would > 2 * sum(plan) ** 2:
            return Checked(False, f"{now} now, {plan} in the best plan")
    return Checked(True, "all 16 uses of a thing by two users")


def waits_of(weights: dict[str, int], ways: Sequence[Way]) -> list[int]:
    """Returns what each user waits for on its way."""
    users = {thing: sum(thing in way for way in ways) for thing in weights}
    return [sum(weights[thing] * users[thing] for thing in way) for way in ways]


def chosen(inputs: Inputs) -> Fraction:
    """Plays the games of two and three users; those beyond three take a way of their own that costs nothing."""
    users = int(inputs["users"])
    if users == 1:
        return Fraction(1)
    weights, now, best = TWO if users == 2 else THREE
    paid = waits_of(weights, now)
    for user, way in enumerate(best):
        moved = [way if other == user else taken for other, taken in enumerate(now)]
        if waits_of(weights, moved)[user] < paid[user]:
            return Fraction(0)  # somebody gains by a move
    return Fraction(sum(paid), sum(waits_of(weights, best)))


BOUND = Bound(
    name="whole_routing_ratio",
    group="selfish decisions",
    quantity="largest ratio of selfish to best total latency of users that take one way each",
    unit="1",
    kind=Status.UPPER,
    quantifier=Quantifier.WORST,
    loss="B",
    symbols=(Symbol("users", "1", "users that choose a way", Trend.RISES, least=1, whole=True, sign="n"),),
    formula="min(users, 5 / 2)",
    assumptions=("settled_choices", "affine_latency", "equal_users"),
    source="Christodoulou and Koutsoupias 2005; Awerbuch, Azar and Epstein 2005",
    examples=(
        Example({"users": 2}, 2.0, "published"),
        Example({"users": 3}, 2.5, "published"),
        Example({"users": 100}, 2.5, "published"),
        Example({"users": 1}, 1.0, "nobody else"),
    ),
    proofs=(
        Recheck("smt", "what the best plan's ways would cost", deviated, ProofGrade.PART),
        Recheck("enumeration", "every use of a thing by two users", of_two, ProofGrade.PART),
    ),
    witness=Witness("games of two and three users", chosen),
    telemetry=("users",),
    unread="no key states latencies that grow with load",
)
