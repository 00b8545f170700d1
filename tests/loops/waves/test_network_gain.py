"""Amplification along paths: closed forms hop by hop, continuous and sampled."""

from __future__ import annotations

import math

import pytest

from coherence.base.errors import UsageError
from coherence.loops.multirate.sampled_system import Sampler, checked
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.waves.network_gain import along, along_sampled

NAMES = ("edge", "api", "store")


def tiers(damping: float) -> Network:
    blocks = [Block(name, (1.0,), (1.0, 2 * damping, 1.0), 0.1) for name in NAMES]
    return network(blocks, [Coupling("edge", "api"), Coupling("api", "store")])


@pytest.mark.parametrize(("damping", "verdict"), [(0.3, "unstable"), (0.8, "stable")])
def test_a_resonance_grows_at_each_tier_and_a_damped_one_does_not(damping: float, verdict: str) -> None:
    path = along(tiers(damping), NAMES, tolerance=1e-7)
    own = 1 / (2 * damping * math.sqrt(1 - damping**2)) if damping < math.sqrt(0.5) else 1.0
    assert path.verdict.verdict == verdict
    assert [tier.ratio for tier in path.tiers] == pytest.approx([own] * 3, rel=1e-6)


def test_a_closed_loop_that_is_not_stable_has_no_tiers() -> None:
    broken = along(loop([3.0], [1.0, 0.0], delay=1.0), ["loop"])
    assert broken.verdict.verdict == "unstable"
    assert not broken.tiers


def test_sampled_stages_tell_peak_and_variance_of_each() -> None:
    law = (2.2, -1.9), (1.0, -0.7)
    system = checked([Sampler(name, *law) for name in NAMES], (), [Coupling("edge", "api"), Coupling("api", "store")])
    path = along_sampled(system, NAMES)
    assert path.verdict.verdict == "unstable"
    assert [tier.ratio for tier in path.tiers] == pytest.approx([1 + 2.4 / 1.7] * 3, rel=1e-9)
    assert path.tiers[0].variance_ratio == pytest.approx(1 + 2.4 + 2.88 / 1.7, rel=1e-9)


def test_names_that_are_no_tiers_are_refused() -> None:
    with pytest.raises(UsageError, match="'stor' is no block: did you mean 'store'"):
        along(tiers(0.8), ["edge", "stor"])
    with pytest.raises(UsageError, match="an empty path"):
        along(tiers(0.8), [])
