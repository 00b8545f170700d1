"""entries of a logical clock: how many numbers a timestamp needs so that its order is the order of cause and effect.

## What
n for n processes: some run has events whose causal order is no coordinatewise order of fewer than n numbers.

## Why it matters
Versions that tell a conflict from an update grow with the writers; shorter ones confuse the two sometimes.

## Example
5 writers: 5 numbers.

## Source
B. Charron-Bost, "Concerning the size of logical clocks in distributed systems", Information Processing Letters 39,
1991, 11-16; the order is the standard example of B. Dushnik and E. Miller, "Partially ordered sets", American Journal
of Mathematics 63, 1941.
"""

from __future__ import annotations

import itertools

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def reversals(n: int) -> list[frozenset[int]]:
    """Returns of each order in line of the 2 n events which send i it puts after its receipt by all but i.

    Event i is before event n + j exactly for j other than i (n processes, each of which hears of all sends but one).
    An order in line is given by what it reverses: i after n + i.
    """
    lines = []
    for order in itertools.permutations(range(2 * n)):
        place = {event: at for at, event in enumerate(order)}
        if all(place[i] < place[n + j] for i in range(n) for j in range(n) if i != j):
            lines.append(frozenset(i for i in range(n) if place[i] > place[n + i]))
    return sorted(set(lines), key=sorted)


def orders() -> Checked:
    """Checks for three processes that no order in line reverses two of the pairs: so each pair needs one of its own."""
    most = max(map(len, reversals(3)))
    return Checked(most == 1, "every order in line of the six events of three processes reverses at most one pair")


BOUND = Bound(
    name="clock_entries",
    group="consistency",
    quantity="numbers in a timestamp that tells cause from coincidence",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("n", "1", "processes", Trend.RISES, least=1, whole=True),),
    formula="n",
    assumptions=("any_pattern", "componentwise"),
    source="Charron-Bost 1991",
    examples=(Example({"n": 5}, 5.0, "published"),),
    proofs=(Recheck("enumeration", "every order in line of three processes' events", orders),),
    telemetry=("entries of a version",),
    unread="no key states that events of several things are compared by their timestamps",
)
