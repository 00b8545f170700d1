"""The test of migration: its numbers by another way, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.signatures.migration import LoadWindow, migration
from coherence.exploring.experiments.migration import EXPERIMENT

FEW = 20


def test_the_size_is_that_which_was_added() -> None:
    found = EXPERIMENT.signatures("delay + 20 % at equal load", FEW)
    assert sum(own.parts["low"] <= 0.2 <= own.parts["high"] for own in found) >= FEW - 1


def test_windows_without_common_loads_are_refused() -> None:
    low, high = (LoadWindow(np.linspace(at, at + 0.1, 100), np.ones(100)) for at in (0.1, 0.5))
    with pytest.raises(UsageError, match="share too few loads"):
        migration(low, high)
