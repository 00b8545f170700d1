"""messages of a commit: how many messages a commit of n participants takes where silence tells nothing.

## What
2 n - 2 messages in a run without a failure, where silence tells nothing: every participant must be heard by all the
others.  With a bound on delays a vote may be given by silence, and `commit_messages_timed` remains.

## Why it matters
It is the traffic of every distributed transaction in good times.

## Example
5 participants: 8 messages.

## Source
C. Dwork and D. Skeen, "The inherent cost of nonblocking commitment", PODC 1983 (there with a bound on delays, for
protocols that survive any number of stops).
"""

from __future__ import annotations

import itertools

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Status, Symbol, Trend


def heard() -> Checked:
    """Lists every sequence of 2 n - 3 messages among 2 and 3 participants: after none has each heard from all."""
    for n in (2, 3):
        pairs = list(itertools.permutations(range(n), 2))
        for sent in itertools.product(pairs, repeat=2 * n - 3):
            known = [{member} for member in range(n)]
            for source, target in sent:
                known[target] |= known[source]
            if all(len(have) == n for have in known):
                return Checked(False, f"{n} participants: {sent}")
    return Checked(True, "all sequences of one message fewer among 2 and 3 participants")


BOUND = Bound(
    name="commit_messages",
    group="consistency",
    quantity="messages of one commit",
    unit="1",
    kind=Status.THEOREM,
    loss="none",
    symbols=(Symbol("n", "1", "participants", Trend.RISES, least=1, whole=True),),
    formula="2 * n - 2",
    assumptions=(
        "unicast",
        "any_vote",
        "reliable_messages",
        "late_messages",
    ),
    without={"late_messages": "commit_messages_timed"},
    source="Dwork and Skeen 1983",
    examples=(
        Example({"n": 5}, 8.0, "published"),
        Example({"n": 1}, 0.0, "nobody else"),
    ),
    proofs=(Recheck("enumeration", "who can have heard whom after fewer messages", heard),),
    telemetry=("messages of a transaction",),
    unread="no key states which members commit together",
)
