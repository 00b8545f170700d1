"""traffic of a matrix product: how much of a matrix product crosses between a small fast memory and a large one.

## What
A product of m x k by k x n with s numbers of fast memory moves at least 2 m n k/sqrt(s) - 2 s numbers.

## Why it matters
It decides from which size on a product is bound by arithmetic and not by memory, on a chip or between nodes.

## Example
m = n = k = 1,000, s = 10,000: 1.998e7 numbers.

## Source
T. Smith, B. Lowery, J. Langou and R. van de Geijn, "A tight I/O lower bound for matrix multiplication", 2019, arXiv
1702.02017; D. Irony, S. Toledo and A. Tiskin, JPDC 64(9), 2004.
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Example, Status, Symbol, Trend

BOUND = Bound(
    name="product_traffic",
    group="roofline",
    quantity="numbers that cross between the memories",
    unit="1",
    kind=Status.THEOREM,
    loss="B",
    symbols=(
        Symbol("m", "1", "rows of the first", Trend.RISES, least=1, whole=True),
        Symbol("k", "1", "columns of the first", Trend.RISES, least=1, whole=True),
        Symbol("n", "1", "columns of the second", Trend.RISES, least=1, whole=True),
        Symbol("room", "1", "numbers that the fast memory holds", Trend.FALLS, least=1, sign="s"),
    ),
    formula="max(0, 2 * m * n * k / sqrt(room) - 2 * room)",
    assumptions=("plain_products", "given_inputs"),
    source="Smith et al. 2019; Irony, Toledo and Tiskin 2004",
    examples=(
        Example({"m": 1000, "k": 1000, "n": 1000, "room": 10000}, 19980000.0, "arithmetic"),
        Example({"m": 2, "k": 2, "n": 2, "room": 100}, 0.0, "all of it fits"),
    ),
    telemetry=("bytes read and written",),
    unread="no key states the rows and columns of products",
)
