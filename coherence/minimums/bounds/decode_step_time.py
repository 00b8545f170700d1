"""decode roofline: one token of a batch reads every weight and every cached key and value once from memory.

## What
(weights + batch * context * key-value bytes) / (units * memory bandwidth) is the least time of a decode step.

## Why it matters
It is the floor of the time between tokens; batching spreads the weights over requests, the cache it does not.

## Example
70.6e9 weights of 2 bytes on 8 units of 3.35 TB/s, empty cache: 5.27 ms.

## Source
Roofline (Williams et al. 2009) on the traffic of one step.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, ProofGrade, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import shared_work

BOUND = Bound(
    name="decode_step_time",
    group="roofline",
    quantity="time of one decode step",
    unit="s",
    kind=Status.THEOREM,
    loss="none",
    symbols=(
        Symbol(
            "weights",
            "B",
            "bytes of all weights that a step reads (without tables that are looked up)",
            Trend.RISES,
            sign="P",
        ),
        Symbol("batch", "1", "requests in the batch", Trend.RISES, whole=True, sign="b"),
        Symbol("context", "1", "cached tokens that a request reads", Trend.RISES, sign="c"),
        Symbol("kv_bytes", "B", "cache bytes of a token", Trend.RISES, sign="k"),
        Symbol("units", "1", "units that share the model", Trend.FALLS, least=1, whole=True, sign="g"),
        Symbol("bandwidth", "B/s", "memory bandwidth of one unit", Trend.FALLS, open_=True, sign="W"),
    ),
    formula="(weights + batch * context * kv_bytes) / (units * bandwidth)",
    assumptions=("weights_read_once", "dense_model", "peak_rates", "private_context"),
    source="Williams et al. 2009",
    examples=(
        Example(
            {
                "weights": Fraction(1412 * 10**8),
                "batch": Fraction(1),
                "context": Fraction(0),
                "kv_bytes": Fraction(327680),
                "units": Fraction(8),
                "bandwidth": Fraction(335 * 10**10),
            },
            0.00526865671641791,
            "70.6e9 weights of 2 bytes on 8 H100",
        ),
        Example(
            {
                "weights": Fraction(1412 * 10**8),
                "batch": Fraction(64),
                "context": Fraction(2000),
                "kv_bytes": Fraction(327680),
                "units": Fraction(8),
                "bandwidth": Fraction(335 * 10**10),
            },
            (1412e8 + 64 * 2000 * 327680) / (8 * 3.35e12),
            "arithmetic",
        ),
    ),
    proofs=(Recheck("smt", "what units do together in a time", shared_work, ProofGrade.PART),),
    telemetry=("model bytes", "batch", "context"),
    unread="no key states the bytes of a model's weights",
)
