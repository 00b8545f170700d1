"""Tests for memory-path incoherence: requests queue, compute is free, and what was computed is computed again.

Compute that is free while requests queue rejects a bottleneck of compute.  It does not reject a bottleneck of memory
that admission knows, where compute is free as well: only work that is done again does.  Both must be rejected, so p is
the larger of the two (intersection-union test, Berger 1982).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.causal.answers.intervals import Floats
from coherence.causal.signatures.signature import Signature, above

FREE = 0.05  # of compute, on average while requests queue: less is a full machine
NULL = "compute is full while requests queue, or memory is full and admission knows it: nothing is computed twice"


@dataclass(frozen=True)
class EngineBatches:
    """One value for each batch of time: share of compute that is free while requests queue; tokens computed again,
    and computed at all."""

    free: Floats
    again: Floats
    computed: Floats


def memory_path(batches: EngineBatches) -> Signature:
    """Returns the share of computed tokens that were computed before; batches in which nobody queued have no `free`."""
    queued = batches.free[np.isfinite(batches.free)]
    free = above(queued, FREE)
    again = above(batches.again / np.maximum(batches.computed, 1))
    share = float(batches.again.sum() / max(batches.computed.sum(), 1))
    parts = {
        "p compute free": free, "p computed again": again,
        "free while queueing": float(queued.mean()) if len(queued) else 0.0,
    }  # fmt: skip
    return Signature("memory-path incoherence", NULL, max(free, again), share, "1", "of computed tokens", parts)
