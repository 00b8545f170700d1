"""key-value bytes: what one token of context occupies in the cache of a decoder.

## What
Keys and values of every layer: 2 layers * heads * head width * bytes per number.

## Why it matters
It sets how many requests fit beside the weights, what a decode step reads, and what moving a request costs.

## Example
80 layers, 8 key-value heads of 128, 2 bytes: 320 KiB.

## Source
W. Kwon et al., "PagedAttention", SOSP 2023 (800 KiB for OPT-13B: 40 layers, 40 heads of 128).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status, Symbol, Trend

BOUND = Bound(
    name="kv_bytes_per_token",
    group="roofline",
    quantity="bytes of one token in the cache",
    unit="B",
    kind=Status.EXACT,
    loss="B",
    symbols=(
        Symbol("layers", "1", "layers", Trend.RISES, least=1, whole=True, sign="L"),
        Symbol("kv_heads", "1", "key-value heads", Trend.RISES, least=1, whole=True),
        Symbol("head", "1", "width of a head", Trend.RISES, least=1, whole=True),
        Symbol("number", "B", "bytes of one number", Trend.RISES, open_=True),
    ),
    formula="2 * layers * kv_heads * head * number",
    assumptions=("uncompressed",),
    source="Kwon et al. 2023",
    examples=(
        Example(
            {"layers": Fraction(40), "kv_heads": Fraction(40), "head": Fraction(128), "number": Fraction(2)},
            819200.0,
            "OPT-13B",
        ),
        Example(
            {"layers": Fraction(80), "kv_heads": Fraction(8), "head": Fraction(128), "number": Fraction(2)},
            327680.0,
            "Llama 3 70B",
        ),
    ),
    telemetry=("shape of the model",),
    unread="no key states the layers and heads of a model",
)
