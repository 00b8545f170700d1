"""The test of memory path: its numbers by another way, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.signatures.memory_path import EngineBatches, memory_path


def test_only_both_together_reject() -> None:
    free, again, computed = np.linspace(0.4, 0.5, 10), np.linspace(20, 30, 10), np.full(10, 100.0)
    assert memory_path(EngineBatches(free, again, computed)).rejects
    assert not memory_path(EngineBatches(free / 100, again, computed)).rejects
    assert not memory_path(EngineBatches(free, again * 0, computed)).rejects
    assert memory_path(EngineBatches(free, again, computed)).magnitude == pytest.approx(0.25)


def test_where_nobody_queues_nothing_is_told() -> None:
    assert memory_path(EngineBatches(np.full(10, np.nan), np.ones(10), np.ones(10))).p == 1.0
