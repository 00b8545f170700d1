"""exchange of a distributed product: how many numbers some processor sends or receives for a product of matrices.

## What
m k n/(2 sqrt(2) P sqrt(s)) - s for P processors with s numbers of memory each: one of them multiplies at least m k n/P
terms, and s numbers that it gets are enough for sqrt(8 s^3) of them at most.

## Why it matters
It says whether tensor parallelism is bound by its links, and what more memory (replication) buys.

## Example
m = k = n = 10,000 on 16 processors with 1,000,000 numbers each: 2.11e7 - 1e6 numbers.

## Source
D. Irony, S. Toledo and A. Tiskin, "Communication lower bounds for distributed-memory matrix multiplication", JPDC
64(9), 2004, 1017-1026 (its abstract has the growth, for conventional products, and the trade of memory for exchange;
the constants are those of the argument above); L. Loomis and H. Whitney 1949.
"""

from __future__ import annotations

import itertools

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend


def projections() -> Checked:
    """Lists every set of terms of a 2 x 2 product: its square is at most the product of its three shadows."""
    cells = list(itertools.product(range(2), repeat=3))
    for mask in range(1, 2 ** len(cells)):
        terms = [cell for k, cell in enumerate(cells) if mask >> k & 1]
        shadows = [len({(cell[a], cell[b]) for cell in terms}) for a, b in ((0, 1), (1, 2), (0, 2))]
        if len(terms) ** 2 > shadows[0] * shadows[1] * shadows[2]:
            return Checked(False, str(terms))
    return Checked(True, "all 255 sets of terms of a 2 x 2 x 2 product (Loomis and Whitney)")


BOUND = Bound(
    name="product_exchange",
    group="roofline",
    quantity="numbers that some processor sends or receives",
    unit="1",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        Symbol("m", "1", "rows of the first", Trend.RISES, least=1, whole=True),
        Symbol("k", "1", "columns of the first", Trend.RISES, least=1, whole=True),
        Symbol("n", "1", "columns of the second", Trend.RISES, least=1, whole=True),
        Symbol("processors", "1", "processors", Trend.FALLS, least=1, whole=True, sign="P"),
        Symbol("room", "1", "numbers that one processor holds", Trend.FALLS, least=1, sign="s"),
    ),
    formula="max(0, m * k * n / (2 * sqrt(2) * processors * sqrt(room)) - room)",
    assumptions=("plain_products", "uncompressed", "given_inputs"),
    source="Irony, Toledo and Tiskin 2004",
    examples=(
        Example({"m": 64, "k": 64, "n": 64, "processors": 1, "room": 32}, 16352.0, "64^3/(2 sqrt(2) sqrt(32)) - 32"),
        Example({"m": 2, "k": 2, "n": 2, "processors": 2, "room": 8}, 0.0, "all of it fits"),
    ),
    proofs=(Recheck("enumeration", "shadows of sets of terms", projections, ProofGrade.PART),),
    telemetry=("numbers sent", "memory of a processor"),
    unread="no key states the rows and columns of products",
)
