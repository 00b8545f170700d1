"""Large parts without delays: their enclosed roots, beside the contour's counts and Newton's method on det P(s)."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.enclosed_roots import FEWEST, enclosed_roots
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.loops.networks.rightmost import polished
from coherence.loops.networks.winding import count_right_of


def random_part(seed: int, *, size: int = FEWEST) -> Network:
    """Returns lags, integrators and resonances of one to three states, all coupled."""
    rng = np.random.default_rng(seed)
    kinds = [
        [((rng.uniform(0.2, 0.9),), (rng.uniform(0.5, 3), 1.0)),
         ((rng.uniform(0.01, 0.3),), (1.0, 0.0)),
         ((1.0, rng.uniform(0.5, 2)), (1.0, rng.uniform(0.1, 1), rng.uniform(1, 9))),
         ((1.0,), tuple(np.poly(-rng.uniform(0.3, 4, 3)).tolist()))]
        for _ in range(size)
    ]  # fmt: skip
    blocks = [Block(f"x{i}", *kind[int(rng.integers(4))]) for i, kind in enumerate(kinds)]
    couplings = [Coupling(f"x{i}", f"x{i}", -1.0) for i in range(size)]
    strength = rng.uniform(0.05, 0.6) / np.sqrt(size)
    couplings += [Coupling(f"x{i}", f"x{j}", strength * rng.normal()) for i in range(size) for j in range(size)]
    return network(blocks, couplings)


@pytest.mark.parametrize("seed", range(6))
def test_as_many_roots_as_the_contour_counts_and_where_newton_s_method_leads(seed: int) -> None:
    char = Characteristic(random_part(seed))
    enclosed = enclosed_roots(char)
    assert enclosed is not None
    assert len(enclosed.roots) == sum(block.order for block in char.network.blocks)
    for sigma in (0.0, -0.1, 0.15):
        if (np.abs(enclosed.roots.real - sigma) > enclosed.radius).all():
            assert count_right_of(char, sigma).roots == (enclosed.roots.real > sigma).sum()
    ordered = enclosed.roots[np.argsort(-enclosed.roots.real)]
    exact = polished(char, ordered[ordered.imag >= 0][:4])
    apart = np.abs(exact[:, None] - enclosed.roots).min(axis=1)
    assert len(exact) >= 3
    assert (apart <= enclosed.radius + 1e-12).all()


def ring(gain: float, size: int = FEWEST) -> Network:
    """Returns a ring of equal lags: (s + 1)^n = gain, roots on a circle about -1."""
    blocks = [Block(f"x{i}", (1.0,), (1.0, 1.0)) for i in range(size)]
    return network(blocks, [Coupling(f"x{i}", f"x{(i + 1) % size}", gain if not i else 1.0) for i in range(size)])


@pytest.mark.parametrize("gain", [0.5**FEWEST, 0.999**FEWEST, 1.001**FEWEST])
def test_the_roots_of_a_ring_lie_in_their_disks(gain: float) -> None:
    result = enclosed_roots(Characteristic(ring(gain)))
    assert result is not None
    exact = gain ** (1 / FEWEST) * np.exp(2j * np.pi * np.arange(FEWEST) / FEWEST) - 1
    assert (np.abs(exact[:, None] - result.roots).min(axis=1) <= result.radius).all()
    assert (np.abs(exact - result.roots[:, None]).min(axis=1) <= result.radius).all()
    assert result.radius < 1e-6


@pytest.mark.parametrize(("gain", "expected"), [(1 - 1e-9, "stable"), (1 + 1e-9, "unstable"), (1.0, "marginal")])
def test_next_to_the_axis_the_disks_decide_or_leave_it_to_the_counts(gain: float, expected: str) -> None:
    assert verdict(ring(gain)).verdict == expected


def test_a_chain_that_feeds_back_next_to_nothing_is_stable() -> None:
    """Its eigenvectors are nearly dependent: the disks are too wide, and the contour decides."""
    result = verdict(ring(1e-30))
    assert (result.verdict, result.unstable) == ("stable", 0)


def test_delays_feedthrough_and_small_parts_are_counted() -> None:
    through = Block("x0", (1.0, 2.0), (1.0, 3.0))
    late = Block("x0", (1.0,), (1.0, 1.0), 1.0)
    for first in (through, late):
        net = ring(0.1)
        assert enclosed_roots(Characteristic(network([first, *net.blocks[1:]], net.couplings))) is None
    assert enclosed_roots(Characteristic(ring(0.1, FEWEST - 1))) is None


def test_the_verdict_says_how_near_its_roots_are_known() -> None:
    result = verdict(random_part(1), decay=0.0)
    assert result.certified.startswith("eigenvalues, each enclosed within")
    assert result.confirmed
