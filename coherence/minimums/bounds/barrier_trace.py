"""barrier, from a trace: the member time that barriers cost in the steps that were measured, exactly.

## What
In each step all members wait for the slowest.  Of a table with one row for each step and the time of every member's
own work in it, sum over steps and members of (slowest of the step - own time), over the members times the sum of the
slowest, is the share of member time that is spent waiting.

## Why it matters
It needs no law of the times and no independence: it is what these durations cost if every step ends in a barrier, and
what remains when nothing else goes wrong.  Members that take turns at being slow cost more than their means show.

## Example
Two steps of two members, 1 s and 3 s, then 3 s and 1 s: a third of the member time is waited, although the means agree.

## Source
Arithmetic of the schedule; the barrier is its definition.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base.errors import UsageError
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
    several,
)

Table = tuple[tuple[Fraction, ...], ...]


def table(inputs: Inputs) -> Table:
    """Returns one row for each step.  Raises UsageError for rows of unlike length and for times that are none."""
    given = several(inputs, "durations")
    try:
        rows = tuple(
            tuple(Fraction(one) for one in (row if isinstance(row, tuple | list) else (row,))) for row in given
        )
    except (TypeError, ValueError, OverflowError):
        raise UsageError("durations of barrier_trace are numbers: one row for each step") from None
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise UsageError("durations of barrier_trace: rows of one length, a time of each member in every step")
    if any(one < 0 for row in rows for one in row):
        raise UsageError("durations of barrier_trace are not negative")
    return rows


def waited(inputs: Inputs) -> Fraction:
    """Returns the share of member time between its own end and that of the slowest; 0 where no time passes at all."""
    rows = table(inputs)
    whole = sum((max(row) * len(row) for row in rows), Fraction(0))
    return 1 - sum((sum(row, Fraction(0)) for row in rows), Fraction(0)) / whole if whole else Fraction(0)


def executed(inputs: Inputs) -> Fraction:
    """Every member walks through its steps and stands at each barrier until the last one is there."""
    rows = table(inputs)
    clock, stood = [Fraction(0)] * len(rows[0]), Fraction(0)
    for row in rows:
        clock = [now + own for now, own in zip(clock, row, strict=True)]
        last = max(clock)
        stood += sum((last - now for now in clock), Fraction(0))
        clock = [last] * len(clock)
    return stood / (clock[0] * len(clock)) if clock[0] else Fraction(0)


def means_are_less() -> Checked:
    """Jensen on the table: the mean of the slowest is at least the slowest mean, on every table of small numbers."""
    from itertools import product

    for flat in product(range(3), repeat=4):
        rows = (flat[:2], flat[2:])
        slowest = sum(max(row) for row in rows)
        if slowest < max(sum(column) for column in zip(*rows, strict=True)):
            return Checked(False, f"{rows}")
        inputs: Inputs = {"durations": rows}  # type: ignore[dict-item]
        if waited(inputs) != executed(inputs):
            return Checked(False, f"{rows}: {waited(inputs)} by the sum, {executed(inputs)} by the run")
    return Checked(True, "on all 81 tables of two steps and two members the run waits what the sum says")


BOUND = Bound(
    name="barrier_trace",
    group="barriers",
    quantity="share of member time that waits at barriers",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.TRACE,
    loss="A",
    symbols=(Symbol("durations", "s", "time of each member's own work, one row for each step", Trend.LIST),),
    compute=waited,
    assumptions=("barrier_each_step", "own_time_unchanged"),
    source="arithmetic of the schedule",
    examples=(
        Example({"durations": ((Fraction(1), Fraction(3)), (Fraction(3), Fraction(1)))}, 1 / 3, "by hand: 4 of 12"),
        Example({"durations": ((Fraction(2), Fraction(2), Fraction(2)),)}, 0.0, "equal members wait for nobody"),
        Example({"durations": ((Fraction(5),), (Fraction(7),))}, 0.0, "one member waits for nobody"),
    ),
    proofs=(Recheck("enumeration", "all small tables", means_are_less),),
    witness=Witness("members that walk through the steps and stand at each barrier", executed),
    telemetry=("time of each member in each step",),
    display=r"1 - \frac{\sum_{t} \sum_{i} \mathrm{durations}_{t i}}{n \sum_{t} \max_i \mathrm{durations}_{t i}}",
    unread="it is of measured times: durations=@FILE",
)
