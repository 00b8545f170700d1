"""key-value transfer: the link rate that moving finished prompts to another machine needs.

## What
Requests per second times the cache bytes of one prompt; no schedule moves them over less.

## Why it matters
Prefill and decode on separate machines pay it; below it prompts queue at the link.

## Example
10 requests/s of 1.125 GiB each: 90 Gibit/s.

## Source
Y. Zhong et al., "DistServe", OSDI 2024, section 3.3.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Example, Status, Symbol, Trend

BOUND = Bound(
    name="kv_transfer_rate",
    group="roofline",
    quantity="rate of the link between prefill and decode",
    unit="B/s",
    kind=Status.THEOREM,
    loss="network",
    symbols=(
        Symbol("rate", "req/s", "requests per second that are computed at the other end, in the long run", Trend.RISES),
        Symbol("bytes", "B", "cache bytes of one prompt", Trend.RISES),
    ),
    formula="rate * bytes",
    assumptions=("uncompressed", "fluid", "no_prompt_cache"),
    source="Zhong et al. 2024",
    examples=(
        Example(
            {"rate": Fraction(10), "bytes": Fraction(1125, 1000) * 1024**3},
            90 * 1024**3 / 8,
            "the published 90 Gbit/s",
            0.01,
        ),
    ),
    telemetry=("requests per second", "prompt lengths"),
    unread="no key states that what a request carries is the cache of its prompt",
)
