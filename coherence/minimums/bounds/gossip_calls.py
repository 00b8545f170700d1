"""calls of gossip: the fewest calls after which everybody knows what each of n knew, where a call joins two of them.

## What
2 n - 4 for n of four or more; 0, 1 and 3 for one, two and three.  In a call both tell all that they know.

## Why it matters
Pairs that exchange states (anti-entropy, membership) need almost two exchanges a member; one that copies a message to
all needs n.

## Example
8 members: 12 calls.

## Source
B. Baker and R. Shostak, "Gossips and telephones", Discrete Mathematics 2, 1972, 191-193, the theorem.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness

State = tuple[int, ...]  # what each knows, a bit for each item


def fewest(n: int) -> int:
    """Returns the fewest calls, by going through every state of knowledge, call by call; members are alike."""
    whole, states, calls = (1 << n) - 1, {tuple(1 << member for member in range(n))}, 0
    while not any(all(known == whole for known in state) for state in states):
        states = {_named(_called(state, *pair)) for state in states for pair in itertools.combinations(range(n), 2)}
        calls += 1
    return calls


def _called(state: State, one: int, other: int) -> State:
    both = state[one] | state[other]
    return tuple(both if member in (one, other) else known for member, known in enumerate(state))


def _named(state: State) -> State:
    """Returns the state with its members in the order of how much they know and are known: fewer that are alike."""
    heard = [sum(known >> item & 1 for known in state) for item in range(len(state))]
    order = sorted(range(len(state)), key=lambda member: (state[member].bit_count(), heard[member]))
    bits = {member: place for place, member in enumerate(order)}
    return tuple(sum(1 << bits[item] for item in bits if state[member] >> item & 1) for member in order)


def every_call() -> Checked:
    """All calls among up to five members."""
    counts = [fewest(n) for n in range(1, 6)]
    return Checked(counts == [0, 1, 3, 4, 6], f"fewest calls of 1 to 5 members, all played: {counts}")


def by_four(inputs: Inputs) -> Fraction:
    """Four members collect from all others, tell each other in four calls, and tell all others; run."""
    n = int(inputs["n"])
    chief = min(n, 4)
    inner = {1: [], 2: [(0, 1)], 3: [(0, 1), (1, 2), (0, 2)], 4: [(0, 1), (2, 3), (0, 2), (1, 3)]}[chief]
    outer = [(0, member) for member in range(chief, n)]
    state = [{member} for member in range(n)]
    calls = [*outer, *inner, *outer]
    for caller, callee in calls:
        state[caller] = state[callee] = state[caller] | state[callee]
    assert all(len(known) == n for known in state)
    return Fraction(len(calls))


BOUND = Bound(
    name="gossip_calls",
    group="consistency",
    quantity="calls until everybody knows all",
    unit="1",
    kind=Status.TIGHT,
    loss="none",
    symbols=(Symbol("n", "1", "members, each with an item of its own", Trend.RISES, least=1, most=2000, whole=True),),
    formula="2 * n - 4 if n > 3 else n * (n - 1) / 2",
    assumptions=("unicast",),
    source="Baker and Shostak 1972",
    examples=(Example({"n": 8}, 12.0, "published"), Example({"n": 3}, 3.0, "published")),
    proofs=(Recheck("enumeration", "all calls among few members", every_call),),
    witness=Witness("four members that collect, exchange and tell", by_four),
    telemetry=("exchanges between members",),
    unread="no key states that members tell each other what they know",
)
