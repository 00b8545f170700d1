"""messages of a timed commit: how many messages a commit takes that f stops cannot block, with a bound on delays.

## What
n - 1 + f messages in a run without a failure: a vote may be given by silence only to those who could not take it for a
stop.  With f = n - 1 this is 2 n - 2.

## Why it matters
It is what a known bound on delays buys over `commit_messages`: n - 1 - f messages of each transaction.

## Example
5 participants, 1 may stop: 5 messages instead of 8.

## Source
C. Dwork and D. Skeen, "The inherent cost of nonblocking commitment", PODC 1983 (any number of stops); R. Guerraoui and
J. Wang, "How fast can a distributed transaction commit?", PODS 2017 (f stops).
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Status, Symbol, Trend
from coherence.minimums.commitment import fewest


def few_participants() -> Checked:
    """Plays every pattern of messages of two and three participants: none with a message fewer can commit."""
    for participants in (2, 3):
        if fewest(participants, most=participants - 1) is not None:
            return Checked(False, f"{participants} participants")
    return Checked(True, "every pattern of messages in two rounds, every vote, one stop at any time")


BOUND = Bound(
    name="commit_messages_timed",
    group="consistency",
    quantity="messages of one commit",
    unit="1",
    kind=Status.THEOREM,
    loss="none",
    symbols=(
        Symbol("n", "1", "participants", Trend.RISES, least=2, whole=True),
        Symbol("failures", "1", "participants that may stop", Trend.RISES, least=1, whole=True, sign="f"),
    ),
    formula="n - 1 + failures",
    valid="failures < n",
    assumptions=("unicast", "any_vote", "reliable_messages"),
    source="Dwork and Skeen 1983; Guerraoui and Wang 2017",
    examples=(
        Example({"n": 5, "failures": 4}, 8.0, "published: any number of stops"),
        Example({"n": 5, "failures": 1}, 5.0, "published"),
    ),
    proofs=(Recheck("enumeration", "every pattern of messages of two and three participants", few_participants),),
    telemetry=("messages of a transaction",),
    unread="no key states which members commit together",
)
