"""Latency-asymmetry drift: two servers, one slower by a share h and one faster by it, at a mean load of .75."""

from __future__ import annotations

from functools import partial

import numpy as np

from coherence.causal.signatures.asymmetry import TierWaits, asymmetry
from coherence.causal.signatures.signature import Signature
from coherence.exploring.experiments.experiment import SIZES, Chance, Experiment, PowerCurve, waits

LOAD, TIME = 0.75, 40_000.0  # of both servers together; mean services


def tiers(chance: Chance, *, h: float, by_rate: bool, load: float = LOAD, time: float = TIME) -> list[TierWaits]:
    """Returns requests of the slow and of the fast server; `by_rate`: weights as the rates, else half each."""
    requests = []
    for rate in (1 - h, 1 + h):
        arriving = load * (rate if by_rate else 1.0)
        count = int(arriving * time)
        gaps, services = chance.exponential(1 / arriving, count), chance.exponential(1 / rate, count)
        requests.append(TierWaits(np.cumsum(gaps), waits(gaps, services), 1 / rate))
    return requests


def answered(chance: Chance, *, h: float, by_rate: bool = False) -> Signature:
    """Returns what the test answers on one run."""
    return asymmetry(*tiers(chance, h=h, by_rate=by_rate))


EXPERIMENT = Experiment(
    "1 latency-asymmetry drift",
    "Timing distributions widen as tiers become less alike. They widen under the null too, where weights follow "
    "rates: the wait in services of its tier does not.",
    __doc__ or "",
    {
        "two alike": lambda chance: answered(chance, h=0.0),
        "weights by rate, h = .2": lambda chance: answered(chance, h=0.2, by_rate=True),
    },
    {"half each, h = .2": lambda chance: answered(chance, h=0.2)},
    (
        PowerCurve("half each", "h", SIZES, lambda h: partial(answered, h=h, by_rate=False)),
        PowerCurve("weights by rate", "h", SIZES, lambda h: partial(answered, h=h, by_rate=True)),
    ),
)
