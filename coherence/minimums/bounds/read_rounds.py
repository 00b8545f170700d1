"""rounds of a read over shards: how often a transaction that only reads must ask where it never waits for writes.

## What
2 rounds for a read of several shards that are written together, where answers are as if transactions came one after
the other, a shard answers at once, and an answer is one version: in one round a shard that a write has not reached
yet answers beside one that it has passed.  One shard alone takes one round, and so does one client that reads alone
and hears of each write from the client that writes.

## Why it matters
It is the trade of every sharded store: a second round, waiting for writes, several versions in an answer, or
older data.

## Example
3 shards: 2 rounds.

## Source
H. Lu, C. Hodsdon, K. Ngo, S. Mu and W. Lloyd, "The SNOW theorem and latency-optimal read-only transactions", OSDI 2016,
135-150; with what it assumes of clients, K. Konwar, W. Lloyd, H. Lu and N. Lynch, "SNOW revisited: understanding when
ideal READ transactions are possible", IPDPS 2021 (arXiv 1811.10577).
"""

from __future__ import annotations

import itertools

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend

PHASES = range(3)  # of a write at a shard: not there, prepared, committed


def one_round() -> Checked:
    """Lists every rule that answers at once by the phase of the write, for both shards: each has a mixed answer.

    A shard may be read before the write comes and the other one after it has gone, or both before, or both after.
    """
    for rules in itertools.product(itertools.product((False, True), repeat=len(PHASES)), repeat=2):
        (before, after), (first, last) = ((rule[0], rule[-1]) for rule in rules)
        right = not before and after and not first and last  # old before the write begins, new after it has ended
        if right and not mixes(rules):
            return Checked(False, str(rules))
    return Checked(True, "all 64 pairs of rules of two shards, in every order of a read and a write")


def mixes(rules: tuple[tuple[bool, ...], ...]) -> bool:
    """Returns whether one shard answers with the new version and the other one with the old one in some order."""
    return any(rules[0][one] != rules[1][other] for one in PHASES for other in PHASES)


BOUND = Bound(
    name="read_rounds",
    group="consistency",
    quantity="rounds of a read over shards",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("shards", "1", "shards that a transaction reads", Trend.RISES, least=1, whole=True),),
    formula="min(shards, 2)",
    assumptions=("last_write_read", "never_waits", "one_version", "written_together", "separate_clients"),
    source="Lu et al. 2016; Konwar et al. 2021",
    examples=(
        Example({"shards": 3}, 2.0, "published"),
        Example({"shards": 1}, 1.0, "one shard orders by itself"),
    ),
    proofs=(Recheck("enumeration", "every rule of one round at two shards", one_round),),
    telemetry=("rounds of a read", "shards of a read"),
    unread="no key states which data is read together and over which shards it lies",
)
