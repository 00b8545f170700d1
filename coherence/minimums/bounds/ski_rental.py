"""rent or buy: how many times more than hindsight any fixed rule pays that rents until it buys.

## What
Renting costs 1 a day, buying b; nobody knows for how many days. Some number of days makes every rule pay 2 - 1/b times
the best; buying on day b attains it.

## Why it matters
Keep or release an idle machine, spin or block, warm standby or cold start: without a forecast no rule promises less.

## Example
b = 10: 1.9.

## Source
A. Karlin, M. Manasse, L. Rudolph and D. Sleator, "Competitive snoopy caching", Algorithmica 3, 1988.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)


def ratio(price: int, day: int) -> Fraction:
    """Returns the worst ratio of the rule that buys on a day, over every last day up to well beyond it."""
    paid = ((last if last < day else day - 1 + price, min(last, price)) for last in range(1, 2 * price + day + 1))
    return max(Fraction(mine, best) for mine, best in paid)


def every_rule() -> Checked:
    """No day to buy has a smaller worst ratio; a rule that never buys has none at all."""
    for price in range(1, 13):
        if min(ratio(price, day) for day in range(1, 4 * price + 2)) != 2 - Fraction(1, price):
            return Checked(False, f"b = {price}")
    return Checked(True, "prices up to 12, every day up to four times the price")


def last_day(inputs: Inputs) -> Fraction:
    """Buys on day b; returns the worst ratio over the last days."""
    return ratio(int(inputs["price"]), int(inputs["price"]))


BOUND = Bound(
    name="ski_rental",
    group="online decisions",
    quantity="worst ratio of what is paid to what hindsight pays",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.WORST,
    loss="economics",
    symbols=(
        Symbol("price", "1", "price over the rent of one day", Trend.RISES, least=1, most=2000, whole=True, sign="b"),
    ),
    formula="2 - 1 / price",
    assumptions=(
        "deterministic_policy",
        "offline_optimum",
        "no_forecast",
    ),
    without={"deterministic_policy": "rental_by_lot_ratio"},
    source="Karlin, Manasse, Rudolph and Sleator 1988",
    examples=(
        Example({"price": 10}, 1.9, "published"),
        Example({"price": 1}, 1.0, "it is bought at once"),
    ),
    proofs=(Recheck("enumeration", "every day to buy, every last day, prices up to 12", every_rule),),
    witness=Witness("buying on the last day that renting would cost as much, every last day tried", last_day),
    telemetry=(),
    unread="no key states what buying costs in days of rent",
)
