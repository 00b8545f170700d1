"""Where the fitted line of a loss lies with every cause at 0."""

from __future__ import annotations

import numpy as np

from coherence.causal.session.remainders import negative_remainder
from tests.causal.sections.contexts import context
from tests.causal.systems import wandering

DESIGN = "coherence: 1\ncomponents: {job: {loss: src.a * k, k: 0 .. 10}}\n"


def test_the_level_at_nothing_is_found_and_means_by_chance_are_not() -> None:
    rng = np.random.default_rng(1)
    a = np.maximum(wandering(rng, 1000, 0.6, 1) + 5, 2.5)
    below = context(DESIGN, {"src.a": a, "job.loss": 5 * a - 10 + rng.normal(size=1000)}, loss="job.loss")
    remainder = negative_remainder(below)
    assert remainder is not None
    assert remainder.low < -10 < remainder.high
    told = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        loss = 2 * a + wandering(rng, 1000, 0.95, 1)
        told += negative_remainder(context(DESIGN, {"src.a": a, "job.loss": loss}, loss="job.loss")) is not None
    assert told <= 1
    assert negative_remainder(context(DESIGN, {"src.a": a, "job.loss": 5 * a - 10})) is None  # no loss is asked for
