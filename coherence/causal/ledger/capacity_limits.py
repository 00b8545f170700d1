"""Computes what a design's own limits cost: C_nom >= C_mem >= C_reach >= C_virt, one limit at each step.

The limits are added one at a time, in a declared order; the order changes how the loss is split, never its sum.
SOURCE: definitions.md 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity import Fleet, capacity


@dataclass(frozen=True)
class CapacityLimit:
    """sum over d, k of need[d, k] * (devices of kind d at work on k) <= at_most, as `memory`, `reach` or `slices`."""

    name: str
    need: Floats
    at_most: float


@dataclass(frozen=True)
class CapacityStep:
    """Capacity with this limit and all before it, and what the limit took (>= 0), in work units per second."""

    name: str
    value: float
    lost: float


def telescope(fleet: Fleet, limits: Sequence[CapacityLimit]) -> tuple[CapacityStep, ...]:
    """First C_nom alone, then one step for each name, in order; limits of one name are added together."""
    for limit in limits:
        if np.shape(limit.need) != fleet.rate.shape or not np.isfinite(limit.need).all() or not limit.at_most >= 0:
            shape = " x ".join(map(str, fleet.rate.shape))
            raise UsageError(f"limit '{limit.name}' needs finite numbers for {shape} and at_most >= 0: {limit!r}")
    steps = [CapacityStep("nominal", capacity(fleet).value, 0.0)]
    taken: list[tuple[Floats, float]] = []
    for name in dict.fromkeys(limit.name for limit in limits):
        taken += [(limit.need, limit.at_most) for limit in limits if limit.name == name]
        reached = capacity(fleet, limits=taken).value
        steps.append(CapacityStep(name, reached, steps[-1].value - reached))
    return tuple(steps)
