"""Latency-asymmetry drift: two servers, one slower by a share h and one faster by it, at a mean load of .75."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench._experiments import Chance, Experiment, waits
from bench.harness import Row
from coherence.causal.signatures.asymmetry import TierWaits, asymmetry
from coherence.causal.signatures.signature import Signature

LOAD, TIME = 0.75, 40_000.0  # of both servers together; mean services


def tiers(chance: Chance, *, h: float, by_rate: bool, load: float = LOAD, time: float = TIME) -> list[TierWaits]:
    """Requests of the slow and of the fast server; `by_rate`: weights in proportion to the rates, else half each."""
    made = []
    for rate in (1 - h, 1 + h):
        arriving = load * (rate if by_rate else 1.0)
        count = int(arriving * time)
        gaps, services = chance.exponential(1 / arriving, count), chance.exponential(1 / rate, count)
        made.append(TierWaits(np.cumsum(gaps), waits(gaps, services), 1 / rate))
    return made


def answered(chance: Chance, *, h: float, by_rate: bool = False) -> Signature:
    """The test on one run."""
    return asymmetry(*tiers(chance, h=h, by_rate=by_rate))


EXPERIMENT = Experiment(
    "1 latency-asymmetry drift",
    {
        "two alike": lambda chance: answered(chance, h=0.0),
        "weights by rate, h = .2": lambda chance: answered(chance, h=0.2, by_rate=True),
    },
    {"half each, h = .2": lambda chance: answered(chance, h=0.2)},
)


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from EXPERIMENT.rows()
