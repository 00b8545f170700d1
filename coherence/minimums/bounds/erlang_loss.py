"""Erlang's loss: the share of arrivals that find every server busy where nobody can wait.

## What
B(c, a) = (a^c / c!) / sum of a^k / k! over k up to c, with a the rate times the mean time that a server is held.  It
holds for every distribution of that time.

## Why it matters
It is the floor of rejections for a given number of slots where nothing may wait and whatever finds a free slot is
taken.

## Example
10 servers, 10 Erlang: 21.5 %.

## Source
A. K. Erlang 1917; insensitivity: B. A. Sevastyanov 1957.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._stations import waits
from coherence.minimums.functions import erlang_b


def balance() -> Checked:
    """The recursion against the balance equations in exact fractions."""
    worst = max(
        abs(float(waits(c, Fraction(a, 2))[0]) / erlang_b(c, Fraction(a, 2)) - 1)
        for c in (1, 2, 5, 10, 30)
        for a in (1, 4, 19)
    )
    return Checked(worst < 1e-12, f"the balance equations in exact fractions agree within {worst:.1e}")


BOUND = Bound(
    name="erlang_loss",
    group="queues",
    quantity="share of arrivals that are lost",
    unit="1",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("servers", "1", "servers", Trend.FALLS, least=1, whole=True, sign="c"),
        Symbol("offered", "1", "offered load: rate times mean time of service", Trend.RISES, sign="a"),
    ),
    formula="erlang_b(servers, offered)",
    assumptions=("poisson", "one_queue", "work_conserving", "no_waiting", "iid"),
    source="Erlang 1917",
    examples=(Example({"servers": 10, "offered": Fraction(10)}, 0.21458234310734736, "Erlang B table: 0.2146", 1e-9),),
    proofs=(Recheck("identity", "balance equations", balance),),
    telemetry=("arrivals per second", "mean service time"),
    unread="no key loses what finds all members busy and states the law of the rest; COH245 asks of bounded queues",
)
