"""Bounds of what is fed back: whether one lies above a number is decided as by the bound itself."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.network import Block, Coupling, Network
from coherence.loops.networks.winding import feedback_bound


def coupled(gains: np.ndarray) -> Characteristic:
    """Returns lags that are coupled by the matrix."""
    names = [f"b{k}" for k in range(len(gains))]
    couplings = tuple(
        Coupling(names[source], names[target], float(gain)) for (target, source), gain in np.ndenumerate(gains) if gain
    )
    return Characteristic(Network(tuple(Block(name, (1.0,), (1.0, 1.0)) for name in names), couplings))


@pytest.mark.parametrize("enough", [0.5, 0.9, 1.0])
def test_whether_it_lies_above_a_number_is_decided_as_by_the_bound(enough: float) -> None:
    rng, below = np.random.default_rng(1), 0
    for _ in range(300):
        size = int(rng.integers(1, 6))
        char = coupled(rng.normal(size=(size, size)) * (rng.random((size, size)) < rng.random()))
        inverse = rng.normal(size=(size, size)) * np.exp(rng.normal())
        bound = np.abs(rng.normal(size=size)) * np.exp(rng.normal() - 1.5)
        absolute = np.abs(inverse) @ (bound[:, None] * np.abs(char.gains))
        full = feedback_bound(absolute, inverse, bound, char)
        assert (feedback_bound(absolute, inverse, bound, char, enough) <= enough) == (full <= enough)
        assert full >= np.abs(np.linalg.eigvals(inverse @ (bound[:, None] * char.gains))).max() * (1 - 1e-9)
        below += full <= enough
    assert 30 < below < 270
