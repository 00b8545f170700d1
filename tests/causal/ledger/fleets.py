"""Random fleets and ledgers with no assumption violated."""

from __future__ import annotations

import numpy as np

from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity import Fleet
from coherence.causal.ledger.times import Times, layout, useful


def random_fleet(random: np.random.Generator) -> Fleet:
    """1 to 6 kinds of devices and 1 to 6 classes; a fifth of the pairs cannot run; every class can run somewhere."""
    devices, classes = (int(n) for n in random.integers(1, 7, 2))
    rate = random.lognormal(0, 1, (devices, classes)) * (random.random((devices, classes)) < 0.8)
    rate[random.integers(devices)] += 0.1
    count = random.integers(1, 1000, devices).astype(float)
    names = tuple(f"d{i}" for i in range(devices)), tuple(f"k{i}" for i in range(classes))
    return Fleet(*names, count, rate, random.dirichlet(np.ones(classes)))


def random_times(fleet: Fleet, random: np.random.Generator, batches: int = 1) -> Times:
    """Shares of each state, drawn anew for every batch; no useful time where a device cannot run a class."""
    windows = random.uniform(10, 100, batches)
    shares: Floats = random.dirichlet(np.full(len(layout(fleet.classes)), 0.5), (batches, len(fleet.devices)))
    shares[:, :, useful(fleet)] *= fleet.rate > 0
    shares /= shares.sum(axis=2, keepdims=True)
    return Times(fleet, shares * fleet.count[:, None] * windows[:, None, None], windows)
