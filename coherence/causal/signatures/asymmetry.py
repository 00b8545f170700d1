"""Tests for latency-asymmetry drift: requests wait longer before the slow tier than before the fast one.

The wait is counted in mean services of its tier, so that a tier which is only slow, and known to be slow, has the same
wait as a fast one at the same load.  SOURCE: batch means (Law and Kelton); Lindley 1952 for what waits are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.answers.intervals import Floats
from coherence.causal.signatures.signature import Signature, above, batch_means, slope

BATCHES = 20
NULL = "tiers that are known to be unequal, or one slow pool: waits are equal, in services of each tier"


@dataclass(frozen=True)
class TierWaits:
    """Requests of one tier: when each came, how long it waited, and the mean service time (s)."""

    arrival: Floats
    wait: Floats
    service: float


def asymmetry(slow: TierWaits, fast: TierWaits, *, batches: int = BATCHES) -> Signature:
    """Returns how much longer requests wait before the slow tier.  Raises UsageError where a batch is empty."""
    start = max(slow.arrival.min(), fast.arrival.min())
    edges = np.linspace(start, min(slow.arrival.max(), fast.arrival.max()), batches + 1)
    rows = [batch_means(tier.arrival, tier.wait / tier.service, edges) for tier in (slow, fast)]
    gaps = rows[0] - rows[1]
    if not np.isfinite(gaps).all():
        raise UsageError(f"a batch of {batches} has no request of one tier: take fewer batches, or a longer record")
    grows = slope(gaps)
    per_second = 1 / float(edges[1] - edges[0])
    parts = {
        "drift": grows.value * per_second, "drift at least": grows.low * per_second,
        "wait slow": float(rows[0].mean()), "wait fast": float(rows[1].mean()),
    }  # fmt: skip
    return Signature("latency-asymmetry drift", NULL, above(gaps), float(gaps.mean()), "services", "of its tier", parts)
