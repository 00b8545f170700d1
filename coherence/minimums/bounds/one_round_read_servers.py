"""servers of one-round reads: how many copies a register takes of which every read and write asks once.

## What
(R + 2) t + 1 where one process writes, R >= 2 read, and t servers may stop without anybody noticing: with fewer, some
read shows the old value after an earlier read has shown the new one.  One reader alone remembers what it saw: 2 t + 1.
A second round, in which a read writes back what it is going to show, makes it 2 t + 1 for any number of readers.

The number needs a reader that reads again.  4 servers of which one may stop are enough for two readers that read once
each, though (2 + 2) 1 + 1 = 5; the search below finds that, and that none of all rules is right once one reads twice.

## Why it matters
It is what a store pays for reads of half the latency: copies in proportion to readers, or one more round.

## Example
Two readers, one failure: 5 servers.  Ten readers, one failure: 13.

## Source
P. Dutta, R. Guerraoui, R. Levy and A. Chakraborty, "How fast can a distributed atomic read be?", PODC 2004 (fast
exactly if R < S/t - 2, for R >= 2).
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._one_round_reads import exists


def every_rule() -> Checked:
    """Decides over all rules for one failure: how many servers it takes, and that a second read is what makes it 5."""
    fewest = {
        (readers, again): next(s for s in range(1, 7) if exists(s, 1, readers, again=again))
        for readers in (1, 2)
        for again in (False, True)
    }
    right = fewest == {(1, False): 3, (1, True): 3, (2, False): 4, (2, True): 5}
    return Checked(right, "all rules of one write and up to three reads; two reads of two readers need 4 servers alone")


BOUND = Bound(
    name="one_round_read_servers",
    group="consistency",
    quantity="fewest servers of a register whose reads and writes take one round",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol("readers", "1", "processes that read, beside a writer", Trend.RISES, least=1, whole=True, sign="R"),
        Symbol("failures", "1", "servers that may stop", Trend.RISES, whole=True, sign="t"),
    ),
    formula="2 * failures + 1 if readers == 1 else (readers + 2) * failures + 1",
    assumptions=("last_write_read", "late_messages", "asked_once", "reads_again"),
    source="Dutta, Guerraoui, Levy and Chakraborty 2004",
    examples=(
        Example({"readers": 2, "failures": 1}, 5.0, "every rule, by search"),
        Example({"readers": 10, "failures": 1}, 13.0, "published: R < S/t - 2"),
        Example({"readers": 1, "failures": 1}, 3.0, "a majority, and a reader's memory"),
    ),
    proofs=(Recheck("enumeration", "every rule of one-round reads", every_rule),),
    telemetry=("rounds of a read", "servers that answer"),
    unread="no key states which members keep a register, and how often they are asked",
)
