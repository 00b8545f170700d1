"""Minimal unstable subsets against the definition, tried over all subsets."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.margins.subsets import minimal_unstable
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.loops.networks.stability import Stability, stability
from tests.draws import few


def brute(net: Network) -> set[frozenset[str]]:
    """By the definition: unstable, and every proper part stable."""
    sets = chain.from_iterable(combinations(net.names, k) for k in range(1, len(net.names) + 1))
    verdicts = {frozenset(s): stability(net.part(s)).verdict for s in sets}
    return {
        s
        for s, verdict in verdicts.items()
        if verdict == "unstable" and all(other == "stable" for part, other in verdicts.items() if part < s)
    }


def loops(count: int, gain: float, couplings: dict[tuple[int, int], float]) -> Network:
    blocks = [Block(f"l{k}", (gain,), (1.0, 0.0), 1.0) for k in range(count)]
    own = [Coupling(f"l{k}", f"l{k}", -1) for k in range(count)]
    return network(blocks, [*own, *(Coupling(f"l{i}", f"l{j}", gain) for (i, j), gain in couplings.items())])


def found_sets(net: Network) -> set[frozenset[str]]:
    return {frozenset(blame.loops) for blame in minimal_unstable(net).sets if blame.minimal}


def test_two_loops_fine_alone_and_unstable_together() -> None:
    net = loops(2, 0.56, {(0, 1): 1, (1, 0): -1})
    subsets = minimal_unstable(net)
    assert [blame.loops for blame in subsets.sets] == [("l0", "l1")]
    assert subsets.complete
    assert not minimal_unstable(loops(2, 0.55, {(0, 1): 1, (1, 0): -1})).sets


def test_a_bad_loop_alone_is_the_whole_blame() -> None:
    assert found_sets(loops(3, 2.0, {(0, 1): 0.1, (1, 0): 0.1})) == {frozenset([f"l{k}"]) for k in range(3)}


def test_the_pair_is_found_in_a_ring_and_what_was_not_searched_is_said() -> None:
    ring = {(k, (k + 1) % 9): 0.1 for k in range(9)}
    subsets = minimal_unstable(loops(9, 0.5, ring | {(3, 7): -1.2, (7, 3): 1.2}), largest=4)
    assert [blame.loops for blame in subsets.sets] == [("l3", "l7")]
    assert not subsets.complete
    assert "5 or more" in subsets.unsearched[0]


def test_small_gain_spares_the_search() -> None:
    ring = {(k, (k + 1) % 9): 0.1 for k in range(9)}
    subsets = minimal_unstable(loops(9, 0.5, ring))
    assert (subsets.sets, subsets.complete, subsets.judged) == ((), True, 0)


def test_a_ring_longer_than_the_search_is_shrunk_to_and_verified() -> None:
    names = [f"r{k}" for k in range(8)]
    net = network(
        [Block(name, (1.5,), (1.0, 1.0)) for name in names],
        [Coupling(a, b, -1 if a == "r0" else 1) for a, b in zip(names, [*names[1:], "r0"], strict=True)],
    )
    subsets = minimal_unstable(net, largest=3)
    assert [(blame.loops, blame.minimal) for blame in subsets.sets] == [(tuple(names), True)]


def test_a_stabilising_third_loop_does_not_hide_the_pair() -> None:
    unstable = {(0, 1): 1.0, (1, 0): -1.0}
    for extra in (-0.6, 0.6):
        net = loops(3, 0.56, unstable | {(0, 2): extra, (2, 0): -extra, (1, 2): extra})
        assert frozenset(["l0", "l1"]) in found_sets(net)


def test_loops_of_several_blocks() -> None:
    net = network(
        [Block("sensor", (1.0,), (1.0,), 1.0), Block("actor", (1.6,), (1.0, 0.0)), Block("other", (1.0,), (1.0, 1.0))],
        [Coupling("sensor", "actor", -1), Coupling("actor", "sensor"), Coupling("other", "actor", 0.1)],
    )
    subsets = minimal_unstable(net, {"scaler": ["sensor", "actor"], "other": ["other"]})
    assert [blame.loops for blame in subsets.sets] == [("scaler",)]
    with pytest.raises(UsageError, match="no block"):
        minimal_unstable(net, {"scaler": ["nothing"]})
    with pytest.raises(UsageError, match="two loops"):
        minimal_unstable(net, {"one": ["sensor"], "two": ["sensor"]})


def test_what_is_not_decided_is_listed_and_never_called_minimal() -> None:
    def doubtful(part: Network) -> Stability:
        return Stability("undecided", "not asked") if len(part.blocks) == 1 else stability(part)

    subsets = minimal_unstable(loops(2, 0.56, {(0, 1): 1, (1, 0): -1}), judge=doubtful)
    assert [blame.minimal for blame in subsets.sets] == [False]
    assert not subsets.complete
    assert any("not asked" in reason for reason in subsets.unsearched)


@pytest.mark.slow
@given(st.integers(0, 100_000))
@settings(max_examples=few(8), deadline=None)
def test_agrees_with_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = {(i, j): float(rng.normal()) for i in range(4) for j in range(4) if i != j and rng.random() < 0.5}
    net = loops(4, float(rng.uniform(0.3, 1.2)), pairs)
    subsets = minimal_unstable(net)
    assert {frozenset(blame.loops) for blame in subsets.sets if blame.minimal} == brute(net)
    assert subsets.complete


def test_a_set_that_is_not_decided_is_named_once() -> None:
    def judge(net: Network) -> Stability:
        return Stability("stable", "") if len(net.names) == 1 else Stability("undecided", "the edge is near")

    subsets = minimal_unstable(loops(2, 0.5, {(0, 1): 1, (1, 0): -1}), judge=judge)
    assert (subsets.sets, subsets.judged, subsets.complete) == ((), 3, False)
    assert subsets.unsearched == ("l0, l1: undecided, the edge is near",)
