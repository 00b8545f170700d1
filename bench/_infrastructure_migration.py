"""Migration: a queue under a load that changes from quarter of an hour to quarter of an hour, before and after."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench._experiments import LEAST_SEEN, SEEDS, Chance, Experiment, chance, waits
from bench.harness import Row
from coherence.causal.signatures.migration import LoadWindow, migration
from coherence.causal.signatures.signature import Signature

STRETCH = 500.0  # mean services of one sample: ten minutes where a service takes 1.2 s
SAMPLES = 144  # of a window: a day
LENGTHS = (60, 72, 96, 120, SAMPLES)


def window(drawn: Chance, *, shift: float = 0.0, slower: float = 1.0, samples: int = SAMPLES) -> LoadWindow:
    """Samples of one window: loads between .3 and .7 and `shift`; every delay times `slower`."""
    loads = drawn.uniform(0.3, 0.7, samples) + shift
    counts = drawn.poisson(loads * STRETCH)
    starts = np.arange(samples) * STRETCH
    arrival = np.concatenate([np.sort(s + drawn.uniform(0, STRETCH, n)) for s, n in zip(starts, counts, strict=True)])
    services = drawn.exponential(1.0, len(arrival))
    delays = (waits(np.diff(arrival, prepend=0.0), services) + services) * slower
    owner = (arrival // STRETCH).astype(int)
    return LoadWindow(counts / STRETCH, np.bincount(owner, delays, samples) / np.bincount(owner, minlength=samples))


def answered(drawn: Chance, *, shift: float = 0.0, slower: float = 1.0, samples: int = SAMPLES) -> Signature:
    """The test on two windows."""
    after = window(drawn, shift=shift, slower=slower, samples=samples)
    return migration(window(drawn, samples=samples), after)


EXPERIMENT = Experiment(
    "5 migration",
    {
        "nothing": answered,
        "load + .1 of capacity": lambda drawn: answered(drawn, shift=0.1),
    },
    {"delay + 20 % at equal load": lambda drawn: answered(drawn, slower=1.2)},
)


def shortest() -> int:
    """The fewest samples of a window with which the effect is seen as often as the target says."""
    for samples in LENGTHS:
        seen = sum(answered(chance(f"5 of {samples}", k), slower=1.2, samples=samples).rejects for k in range(SEEDS))
        if seen >= LEAST_SEEN:
            return samples
    return 10**6


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from EXPERIMENT.rows()
    yield Row("5 migration: samples of a window that + 20 % takes", shortest(), f"<= {SAMPLES}", "of 500 services")
