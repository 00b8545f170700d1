"""messages of an election on a ring: how many messages some run takes until all know the greatest of n names.

## What
M(n) = 2 M(n/2) + (n/2 - 1)/2 with M(2) = 1, for n a power of two: n log2(n)/4 + 1/2.  Two halves that have not heard of
each other each cost what a half costs, and then the news must cross one of them.  It is proved of algorithms that do
not know how many processes there are (uniform ones), which run alike on the half.

## Why it matters
Elections on rings and chains grow faster than their members; a first leader that is known costs nothing.

## Example
8 processes: 6.5 messages.

## Source
With equal steps and names that are only compared: G. Frederickson and N. Lynch, "The impact of synchronous
communication on the problem of electing a leader in a ring", STOC 1984 and J. ACM 34(1), 1987 (its abstract states
n log n).  Without steps, cited from memory: J. Burns, "A formal model for message passing systems", Indiana University
TR 91, 1980; H. Attiya and J. Welch, Distributed Computing, 2nd edition 2004, chapter 3.  The number rests on the
argument above and on the recursion, which is solved here, on neither of them.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def recursion() -> Checked:
    """Solves the recursion from 2 to 2^40 in exact fractions, and compares."""
    messages = Fraction(1)
    for power in range(2, 41):
        half = 2 ** (power - 1)
        messages = 2 * messages + Fraction(half - 1, 2)
        if messages != Fraction(2**power * power, 4) + Fraction(1, 2):
            return Checked(False, f"2^{power}: {messages}")
    return Checked(True, "the recursion in exact fractions, up to 2^40 processes")


BOUND = Bound(
    name="election_messages",
    group="consistency",
    quantity="messages on a ring until all know the greatest name",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(Symbol("n", "1", "processes on the ring, a power of two", Trend.RISES, least=2, whole=True),),
    formula="n * log2(n) / 4 + 1 / 2",
    valid="log2(n) == floor(log2(n))",
    assumptions=("ring_links", "unknown_names", "unknown_size", "late_messages"),
    source="the recursion above; Frederickson and Lynch 1987; from memory Burns 1980, Attiya and Welch 2004",
    examples=(
        Example({"n": 2}, 1.0, "one hears of the other"),
        Example({"n": 8}, 6.5, "recursion"),
    ),
    proofs=(Recheck("enumeration", "the closed form of the recursion", recursion),),
    telemetry=("messages of an election",),
    unread="no key states which members elect one of them, and over which ring",
)
