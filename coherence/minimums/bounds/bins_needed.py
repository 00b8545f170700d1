"""bins that are needed: whole items in whole bins, counting those above one half.

## What
L2 of Martello and Toth: items above one half share no bin; with items of at least a threshold that do not fit beside
them, the volume that is left needs bins of its own; the best threshold counts.

## Why it matters
Slices, replicas and jobs are placed whole.  Volume alone says that 10 items of 0.51 fit 6 devices; they need 10.

## Example
10 items of 0.51 in bins of 1: 10 bins (by volume 6).

## Source
S. Martello and P. Toth, "Lower bounds and reduction procedures for the bin packing problem", DAM 28, 1990.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status
from coherence.minimums.bounds._packing import SYMBOLS, computed, given, packed, solved
from coherence.minimums.packing import by_halves

BOUND = Bound(
    name="bins_needed",
    group="capacity",
    quantity="bins",
    unit="1",
    kind=Status.THEOREM,
    loss="virtualization",
    symbols=SYMBOLS,
    compute=computed(by_halves),
    assumptions=("atomic_items",),
    without={"atomic_items": "bins_by_volume"},
    source="Martello and Toth 1990",
    examples=(
        Example(given(*[Fraction(51, 100)] * 10), 10.0, "published worst case of L1"),
        Example(
            given(*[Fraction(7, 10), Fraction(6, 10), Fraction(4, 10), Fraction(3, 10)] * 2), 4.0, "packed by hand"
        ),
    ),
    proofs=(solved(by_halves),),
    witness=packed(gap=1.5),
    telemetry=("sizes of what is placed",),
    display=(
        r"\min \left\{ k : \text{there are } B_1 \cup \dots \cup B_k \text{ with } \sum_{i \in B_j} "
        r"\mathrm{sizes}_i \le \mathrm{capacity} \right\}"
    ),
    unread="it is of items one by one; COH211 places the members of a design",
)
