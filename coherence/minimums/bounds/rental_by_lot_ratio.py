"""rent or buy by lot: how many times more than hindsight any rule pays on average that draws the day on which it buys.

## What
1/(1 - (1 - 1/b)^b) where renting costs 1 a day and buying b: with a last day drawn so that each more day has chance
1 - 1/b, and none ends after b days, every day to buy costs b on average, and hindsight b (1 - (1 - 1/b)^b).  Buying on
day j <= b with a chance in proportion to (1 - 1/b)^(b - j) attains it.  It comes to e/(e - 1).

## Why it matters
It is what drawing lots buys over `ski_rental`, against a course of events that does not depend on the lots.

## Example
b = 2: 4/3.  Large b: 1.582.

## Source
A. Karlin, M. Manasse, L. McGeoch and S. Owicki, "Competitive randomized algorithms for nonuniform problems",
Algorithmica 11, 1994.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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


def drawn_last_days() -> Checked:
    """Lets the last day be drawn as is said, for prices up to 12: what each day to buy costs, exactly, and hindsight.

    No rule by lot costs less on average than the best day to buy, and none has a lesser ratio on all last days.
    """
    for b in range(1, 13):
        lasts = [(1 - Fraction(1, b)) ** min(day, b - 1) for day in range(3 * b)]  # chance that day + 1 comes
        paid = [sum(lasts[: day - 1], Fraction(0)) + lasts[day - 1] * b for day in range(1, 3 * b + 1)]
        if min(paid) != b or sum(lasts[:b]) != b * (1 - (1 - Fraction(1, b)) ** b):
            return Checked(False, f"price {b}: {min(paid)}")
    return Checked(True, "every day to buy against the drawn last day, prices up to 12, in exact fractions")


def worst_ratio(chances: Mapping[int, Fraction], price: int) -> Fraction:
    """Returns the largest ratio over last days of what is paid on average, with a chance for each day to buy."""
    return max(
        sum((chance * (last if last < day else day - 1 + price) for day, chance in chances.items()), Fraction(0))
        / min(last, price)
        for last in range(1, max(chances) + price + 1)
    )


def by_lot(inputs: Inputs) -> Fraction:
    """Draws the day to buy as is said, and tries every last day."""
    b = int(inputs["price"])
    weights = {day: (1 - Fraction(1, b)) ** (b - day) for day in range(1, b + 1)}
    return worst_ratio({day: weight / sum(weights.values()) for day, weight in weights.items()}, b)


BOUND = Bound(
    name="rental_by_lot_ratio",
    group="online decisions",
    quantity="worst ratio of what is paid on average to what hindsight pays",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.WORST,
    loss="economics",
    symbols=(
        Symbol("price", "1", "price over the rent of one day", Trend.RISES, least=1, most=2000, whole=True, sign="b"),
    ),
    formula="1 / (1 - power(1 - 1 / price, price))",
    assumptions=("offline_optimum", "no_forecast"),
    source="Karlin, Manasse, McGeoch and Owicki 1994",
    examples=(
        Example({"price": 2}, 4 / 3, "by hand"),
        Example({"price": 60}, 1 / (1 - math.pow(59 / 60, 60)), "the formula; e/(e - 1) is 1.582"),
        Example({"price": 1}, 1.0, "it is bought at once"),
    ),
    proofs=(Recheck("enumeration", "every day to buy against a drawn last day", drawn_last_days),),
    witness=Witness("buying on a drawn day, every last day tried", by_lot),
    telemetry=(),
    unread="no key states what buying costs in days of rent",
)
