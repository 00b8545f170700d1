"""quorum latency: how long one write of a replicated leader takes at least, from the round trips to its replicas.

## What
With n replicas, the leader one of them, a write that survives the loss of any minority of (n - 1)/2 replicas, rounded
down, must be on one more than these: the leader waits for its floor((n - 1)/2)-th fastest round trip.  With an even
number that is less than a majority: a quorum of writes must only meet every quorum of reads.

## Why it matters
Where the replicas stand decides it, not the software; moving the leader or one replica changes it.

## Example
Round trips 2, 30, 70 and 80 ms (5 replicas): 30 ms.

## Source
D. Gifford 1979; quorums that intersect; Howard, Malkhi, Spiegelman 2016 (Flexible Paxos) for even numbers.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness, several


def majority(inputs: Inputs) -> Fraction | float:
    """Returns the floor((n - 1)/2)-th smallest of n - 1 round trips; no time where the leader alone survives."""
    trips = sorted(several(inputs, "round_trips"))
    if not trips or trips[0] < 0:
        raise UsageError("round_trips of quorum_latency are one or more times of at least 0 s")
    trip: Fraction | float = trips[len(trips) // 2 - 1] if len(trips) > 1 else Fraction(0)
    return trip


def minorities() -> Checked:
    """Checks that k replicas survive the loss of any (n - 1)/2, rounded down, exactly if k is more, for n up to 7."""
    for n in range(2, 8):
        for k in range(1, n + 1):
            smallest = set(range(k))
            lost = itertools.combinations(range(n), (n - 1) // 2)
            if all(smallest - set(one) for one in lost) != (k > (n - 1) // 2):
                return Checked(False, f"{k} of {n}")
    return Checked(True, "every minority of 2 to 7 replicas")


def acknowledged(inputs: Inputs) -> Fraction | float:
    """The leader sends to all and counts answers in the order in which they come, itself first."""
    waiting = list(several(inputs, "round_trips"))
    needed, have = len(waiting) // 2 + 1, 1
    now: Fraction | float = Fraction(0)
    while have < needed:
        now = min(waiting)
        waiting.remove(now)
        have += 1
    return now


BOUND = Bound(
    name="quorum_latency",
    group="consistency",
    quantity="time of a write that survives any minority, at the leader",
    unit="s",
    kind=Status.TIGHT,
    loss="none",
    symbols=(Symbol("round_trips", "s", "round trips from the leader to each other replica", Trend.LIST),),
    compute=majority,
    assumptions=("crash_faults",),
    source="Gifford 1979",
    examples=(
        Example(
            {"round_trips": (Fraction(2, 1000), Fraction(70, 1000), Fraction(30, 1000), Fraction(80, 1000))},
            0.03,
            "sorted by hand",
        ),
        Example({"round_trips": (Fraction(1, 10), Fraction(1, 5))}, 0.1, "three replicas"),
    ),
    proofs=(Recheck("enumeration", "every minority of few replicas", minorities),),
    witness=Witness("answers counted as they come", acknowledged),
    telemetry=("round trips between replicas",),
    display=(
        r"\mathrm{round\_trips}_{(\lfloor (n - 1)/2 \rfloor)}, \quad n \text{ replicas, in the order of "
        r"their round trips}"
    ),
    unread="no key states which replicas a leader waits for",
)
