from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.twins.compiled_starts import sifted_starts
from coherence.causal.twins.coordinated_twin import _heaped


@pytest.mark.parametrize("servers", [1, 2, 7])
def test_starts_are_those_of_a_plain_heap(servers: int) -> None:
    rng = np.random.default_rng(servers)
    arrivals = np.sort(rng.uniform(0, 100, 200))
    needs = rng.exponential(servers * 0.4, 200)
    assert sifted_starts(arrivals, needs, servers).tolist() == _heaped(arrivals, needs, servers).tolist()
