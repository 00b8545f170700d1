"""ghost cost: what is paid for loss that better coordination could avoid.

## What
(loss - minimum) of the member hours that were paid for, times their price.  A share below the minimum gives a number
below zero: an assumption of the minimum does not hold there.

## Why it matters
It puts a price on the distance to the floor; what the floor itself costs no retuning saves.

## Example
10 % of 16,384 GPUs for 54 days at 2 usd per hour, minimum 9.63 %: 157,114 usd.

## Source
Definition.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Inputs, Role, Status, Symbol, Trend, Witness


def billed(inputs: Inputs) -> Fraction | float:
    """Returns the bill for all hours, less the one that the minimum leaves, less the useful hours."""
    bill = inputs["members"] * inputs["duration"] * inputs["price"]
    useful, possible = bill * (1 - inputs["loss"]), bill * (1 - inputs["minimum"])
    return possible - useful


BOUND = Bound(
    name="ghost_cost",
    group="economics",
    quantity="cost of avoidable loss",
    unit="usd",
    kind=Status.EXACT,
    role=Role.POINT,
    loss="economics",
    symbols=(
        Symbol("loss", "1", "share of the time that is lost", Trend.RISES, most=1.0),
        Symbol("minimum", "1", "share that no retuning avoids", Trend.FALLS, most=1.0),
        Symbol("members", "1", "members that are paid for", Trend.RISES, whole=True, sign="G"),
        Symbol("duration", "s", "time that is paid for", Trend.RISES),
        Symbol("price", "usd/s", "price of a member per second", Trend.RISES),
    ),
    formula="(loss - minimum) * members * duration * price",
    assumptions=(),
    source="definition",
    examples=(
        Example(
            {
                "loss": Fraction(1, 10),
                "minimum": 0.09630035233597689,
                "members": Fraction(16384),
                "duration": Fraction(1296 * 3600),
                "price": Fraction(2, 3600),
            },
            157114.1508325034,
            "arithmetic",
        ),
    ),
    witness=Witness("the bill of the useful and of the possible hours", billed),
    telemetry=("share of lost time", "price"),
    unread="`--measured` and `prices` tell what a recoverable share costs",
)
