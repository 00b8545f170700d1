"""ridge batch: the batch from which a decode step's products, not its memory traffic, take the time.

## What
Each weight of b bytes is read once and used in one multiplication and one addition per request: reading takes
b / W, computing 2 batch / R.  They are equal at batch = R b / (2 W).

## Why it matters
Below it a larger batch is free; above it latency grows with the batch.

## Example
989 TFLOP/s, 3.35 TB/s, 2 bytes: 295 requests.

## Source
Williams et al. 2009.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Role, Status, Symbol, Trend


def crossing() -> Checked:
    """Checks that the two times are equal there, and the products take longer above."""
    import sympy as sp

    rate, bandwidth, number, more = sp.symbols("R W b x", positive=True)
    ridge = rate * number / (2 * bandwidth)
    equal = sp.simplify(2 * ridge / rate - number / bandwidth) == 0
    above = sp.simplify(2 * ridge * (1 + more) / rate - number / bandwidth).is_positive
    return Checked(bool(equal and above), "reading and computing take the same time at the formula")


BOUND = Bound(
    name="decode_ridge_batch",
    group="roofline",
    quantity="batch at the ridge",
    unit="1",
    kind=Status.EXACT,
    role=Role.POINT,
    loss="none",
    symbols=(
        Symbol("peak", "FLOP/s", "peak rate of a unit", Trend.RISES, open_=True, sign="R"),
        Symbol("bandwidth", "B/s", "memory bandwidth of a unit", Trend.FALLS, open_=True, sign="W"),
        Symbol("number", "B", "bytes of one weight", Trend.RISES, open_=True, sign="b"),
    ),
    formula="peak * number / (2 * bandwidth)",
    assumptions=("peak_rates", "weights_read_once", "dense_model", "plain_products"),
    source="Williams et al. 2009",
    examples=(
        Example(
            {"peak": Fraction(989 * 10**12), "bandwidth": Fraction(335 * 10**10), "number": Fraction(2)},
            295.2238805970149,
            "H100, bf16",
        ),
    ),
    proofs=(Recheck("identity", "equal times", crossing),),
    telemetry=(),
    unread="no key states the bytes of one weight",
)
