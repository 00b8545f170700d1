"""bins by volume: as many bins as the sum of the sizes fills.

## What
L1: the sum of the sizes over the capacity, rounded up; it holds also where items may be split.

## Why it matters
It is what a sum of requests over a sum of capacities says; `bins_needed` says what whole items add.

## Example
10 items of 0.51 in bins of 1: 6 bins.

## Source
S. Martello and P. Toth 1990 (L1).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status
from coherence.minimums.bounds._packing import SYMBOLS, computed, given, packed, solved
from coherence.minimums.packing import by_volume

BOUND = Bound(
    name="bins_by_volume",
    group="capacity",
    quantity="bins",
    unit="1",
    kind=Status.THEOREM,
    loss="virtualization",
    symbols=SYMBOLS,
    compute=computed(by_volume),
    assumptions=(),
    without={},
    source="Martello and Toth 1990",
    examples=(
        Example(given(*[Fraction(51, 100)] * 10), 6.0, "published: L1 = 6"),
        Example(given(*[Fraction(1, 2)] * 4), 2.0, "two each"),
    ),
    proofs=(solved(by_volume),),
    witness=packed(gap=2.0),
    telemetry=("sizes of what is placed",),
    display=r"\left\lceil \frac{\sum_i \mathrm{sizes}_i}{\mathrm{capacity}} \right\rceil",
    unread="it is of items one by one; COH211 places the members of a design",
)
