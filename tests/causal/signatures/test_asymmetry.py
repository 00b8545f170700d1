"""The test of asymmetry: its numbers by another way, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.signatures.asymmetry import TierWaits, asymmetry
from coherence.exploring.experiments.experiment import chance, waits


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
