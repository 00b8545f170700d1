"""steps of randomised agreement: reads and writes of shared registers before all processes have decided.

## What
Lots make agreement possible where any process may stop and nobody knows how fast the others are, but not cheap.  Each
process has to write before it decides, and to read after its first write: else another one that ran alone meanwhile has
decided otherwise.  Whoever schedules brings all of n processes to their first write before any of them writes: 2 n
steps.  The order is n^2 (Attiya and Censor 2008, against schedules that see the lots); no constant of it is published,
so that the number here is only what every process does.

## Why it matters
Where a compare-and-swap, a leader or a clock stands to reason, one step of each process is enough.

## Example
3 processes: 6 steps.

## Source
H. Attiya and K. Censor, "Tight bounds for asynchronous randomized consensus", J. ACM 55(5), 2008; impossible without
lots: M. Loui and H. Abu-Amara 1987.
"""

from __future__ import annotations

import itertools

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend

WRITE, READ = "w", "r"


def decides(steps: str, others: str) -> tuple[int, int]:
    """Runs two processes that propose 0 and 1, each with steps of its own until it has read what the other wrote.

    The first stands before its first write until the second has ended.  Returns the two decisions: who has read
    another's proposal takes it.
    """
    stands = steps.index(WRITE) if WRITE in steps else len(steps)
    wrote, first, second = {0: False, 1: False}, 0, 1
    for step in others:
        wrote[1] |= step == WRITE
        second = 0 if step == READ and wrote[0] else second
    for step in steps[stands:]:
        wrote[0] |= step == WRITE
        first = 1 if step == READ and wrote[1] else first
    return first, second


def every_way() -> Checked:
    """Of all ways to decide alone in up to four steps only those agree in which a read follows a write."""
    ways = ["".join(way) for size in range(5) for way in itertools.product((WRITE, READ), repeat=size)]
    agree = [way for way in ways if len(set(decides(way, way))) == 1]
    wanted = [way for way in ways if READ in way[way.find(WRITE) + 1 :] and WRITE in way]
    return Checked(agree == wanted, f"{len(agree)} of {len(ways)} ways agree; each has a read behind a write")


BOUND = Bound(
    name="randomised_agreement_steps",
    group="consistency",
    quantity="steps of all processes until they have decided",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("processes", "1", "processes that agree", Trend.RISES, least=2, most=1e9, whole=True, sign="n"),),
    formula="2 * processes",
    assumptions=("any_schedule", "any_proposer", "registers_only", "sure_agreement"),
    source="Attiya and Censor 2008 (the order n^2)",
    examples=(Example({"processes": 3}, 6.0, "a write and a read of each"),),
    proofs=(Recheck("enumeration", "every way to decide in a few steps of one's own", every_way, ProofGrade.PART),),
    telemetry=(),
    unread="no key states registers that processes share",
)
