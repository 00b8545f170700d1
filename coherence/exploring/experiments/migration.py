"""Migration: a queue under a load that changes from quarter of an hour to quarter of an hour, before and after."""

from __future__ import annotations

from functools import partial

import numpy as np

from coherence.causal.signatures.migration import LoadWindow, migration
from coherence.causal.signatures.signature import Signature
from coherence.exploring.experiments.experiment import SEEDS, SIZES, Chance, Experiment, PowerCurve, waits

STRETCH = 500.0  # mean services of one sample: ten minutes where a service takes 1.2 s
SAMPLES = 144  # of a window: a day
LENGTHS = (60, 72, 96, 120, SAMPLES)


def window(drawn: Chance, *, shift: float = 0.0, slower: float = 1.0, samples: int = SAMPLES) -> LoadWindow:
    """Returns samples of a window: loads between .3 and .7 and `shift`; every delay times `slower`."""
    loads = drawn.uniform(0.3, 0.7, samples) + shift
    counts = drawn.poisson(loads * STRETCH)
    starts = np.arange(samples) * STRETCH
    arrival = np.concatenate([np.sort(s + drawn.uniform(0, STRETCH, n)) for s, n in zip(starts, counts, strict=True)])
    services = drawn.exponential(1.0, len(arrival))
    delays = (waits(np.diff(arrival, prepend=0.0), services) + services) * slower
    owner = (arrival // STRETCH).astype(int)
    return LoadWindow(counts / STRETCH, np.bincount(owner, delays, samples) / np.bincount(owner, minlength=samples))


def answered(drawn: Chance, *, shift: float = 0.0, slower: float = 1.0, samples: int = SAMPLES) -> Signature:
    """Returns what the test answers on two windows."""
    after = window(drawn, shift=shift, slower=slower, samples=samples)
    return migration(window(drawn, samples=samples), after)


EXPERIMENT = Experiment(
    "5 migration",
    "Performance changes, and nothing of the code fails. It changes with the load as well: delays are compared at "
    "equal load.",
    __doc__ or "",
    {
        "nothing": answered,
        "load + .1 of capacity": lambda drawn: answered(drawn, shift=0.1),
    },
    {"delay + 20 % at equal load": lambda drawn: answered(drawn, slower=1.2)},
    (
        PowerCurve("slower by", "share", SIZES, lambda size: partial(answered, slower=1 + size)),
        PowerCurve("load higher by", "share of capacity", SIZES, lambda size: partial(answered, shift=size)),
        PowerCurve(
            "slower by .2",
            "samples of a window",
            LENGTHS,
            lambda samples: partial(answered, slower=1.2, samples=samples),
            SEEDS,
        ),
    ),
)
