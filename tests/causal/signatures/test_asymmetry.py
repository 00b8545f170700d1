"""The test of asymmetry on systems whose truth is known: its null is kept, its effect is seen."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.signatures.asymmetry import TierWaits, asymmetry
from coherence.exploring.experiments.asymmetry_drift import EXPERIMENT
from coherence.exploring.experiments.experiment import chance, waits

FEW = 20


@pytest.mark.parametrize("name", EXPERIMENT.nulls)
def test_a_bottleneck_alone_is_none(name: str) -> None:
    assert EXPERIMENT.rejections(name, FEW) <= 1


@pytest.mark.parametrize("name", EXPERIMENT.effects)
def test_the_effect_is_seen(name: str) -> None:
    assert EXPERIMENT.rejections(name, FEW) >= FEW - 1


def test_waits_are_those_of_a_server_run_request_by_request() -> None:
    drawn = chance("lindley", 1)
    gaps, services = drawn.exponential(1.0, 200), drawn.exponential(0.9, 200)
    wait, expected = 0.0, [0.0]
    for gap, service in zip(gaps[1:], services[:-1], strict=True):
        wait = max(0.0, wait + service - gap)
        expected.append(wait)
    assert waits(gaps, services) == pytest.approx(expected)


def test_a_batch_without_requests_is_refused() -> None:
    slow, fast = (TierWaits(np.array([0.0, 10.0]), np.zeros(2), 1.0) for _ in range(2))
    with pytest.raises(UsageError, match="fewer batches"):
        asymmetry(slow, fast)
