"""Collectives: executed algorithms deliver, take what their cost says, and never beat a floor."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.minimums import collectives
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import at
from coherence.minimums.ladder import ladder
from coherence.minimums.registry import entry

LAW = settings(max_examples=50, deadline=None)
MEMBERS = st.integers(2, 17)
SIZES = st.fractions(0, 10**6, max_denominator=7)
RATES = st.fractions(Fraction(1, 5), 10**4, max_denominator=9)
ALPHAS = st.fractions(0, 3, max_denominator=11)


def value(name: str, n: int, size: Fraction, rate: Fraction, alpha: Fraction) -> Fraction | float:
    given_: Inputs = {"n": Fraction(n), "size": size, "bandwidth": rate, "alpha": alpha}
    bound = entry(name).bound
    return at(bound, {key: given_[key] for key in bound.names})


@pytest.mark.slow
@LAW
@given(MEMBERS, SIZES, RATES, ALPHAS)
def test_no_all_reduce_beats_its_floors(n: int, size: Fraction, rate: Fraction, alpha: Fraction) -> None:
    taken = [collectives.ring_all_reduce(n, size, rate, alpha)]
    taken.append(collectives.ring_reduce_scatter(n, size, rate, alpha) + collectives.bruck(n, size, rate, alpha))
    if n & (n - 1) == 0:
        taken.append(collectives.rabenseifner(n, size, rate, alpha))
        cost = float(value("all_reduce_rabenseifner", n, size, rate, alpha))
        assert float(taken[-1]) == pytest.approx(cost, rel=1e-12)
    assert taken[0] == value("all_reduce_ring", n, size, rate, alpha)
    for floor in ("all_reduce_end_point", "all_reduce_latency", "all_reduce_alpha_beta", "all_reduce_in_network"):
        assert min(taken) >= value(floor, n, size, rate, alpha)


@LAW
@given(MEMBERS, SIZES, RATES, ALPHAS)
def test_no_other_collective_beats_its_floor(n: int, size: Fraction, rate: Fraction, alpha: Fraction) -> None:
    gathers = [run_(n, size, rate, alpha) for run_ in (collectives.bruck, collectives.ring_all_gather)]
    assert min(gathers) >= value("all_gather", n, size, rate, alpha)
    assert min(gathers) >= value("all_reduce_latency", n, size, rate, alpha)
    assert collectives.ring_reduce_scatter(n, size, rate, alpha) >= value("reduce_scatter", n, size, rate, alpha)
    assert collectives.direct_scatter(n, size, rate, alpha) >= value("scatter_gather", n, size, rate, alpha)
    assert collectives.rotation(n, size, rate, alpha) >= value("all_to_all", n, size, rate, alpha)


@LAW
@given(MEMBERS, SIZES, RATES, ALPHAS, st.integers(1, 20))
def test_no_broadcast_beats_its_floor(n: int, size: Fraction, rate: Fraction, alpha: Fraction, parts: int) -> None:
    floor = value("broadcast", n, size, rate, alpha)
    assert collectives.chain_broadcast(n, size, rate, alpha, parts) >= floor
    assert collectives.tree_broadcast(n, size, rate, alpha) >= floor


@LAW
@given(st.integers(1, 64), st.data())
def test_random_gossip_never_knows_more_than_doubling_allows(n: int, data: st.DataObject) -> None:
    """Any pairing of members in each round, both ways."""
    assume(n > 1)
    held = [{m} for m in range(n)]
    rounds = 0
    chance = data.draw(st.randoms(use_true_random=False))
    while any(len(have) < n for have in held) and rounds < 8:
        order = list(range(n))
        chance.shuffle(order)
        held = [held[m] | held[order[m]] for m in range(n)]
        rounds += 1
        assert max(len(have) for have in held) <= 2**rounds
    if all(len(have) == n for have in held):
        assert rounds >= math.ceil(math.log2(n))


@given(MEMBERS)
def test_one_member_needs_no_collective_and_halving_needs_a_power_of_two(n: int) -> None:
    one = Fraction(1)
    for name in ("all_reduce_end_point", "all_reduce_alpha_beta", "all_gather", "reduce_scatter", "all_to_all"):
        assert value(name, 1, one, one, one) == 0
    if n & (n - 1):
        with pytest.raises(UsageError, match="power of two"):
            collectives.rabenseifner(n, one, one)
        with pytest.raises(UsageError, match="holds where"):
            value("all_reduce_rabenseifner", n, one, one, one)


def test_what_latency_and_reduction_at_end_points_buy() -> None:
    bound = entry("all_reduce_alpha_beta").bound
    point = {"n": "64", "size": "1e9", "bandwidth": "25e9", "alpha": "2e-5"}
    spans = {name: (Fraction(x), Fraction(x)) for name, x in point.items()}
    left = {rung.assumption: rung.floor.low for rung in ladder(bound, spans) if rung.floor is not None}
    assert left == {"end_point_reduction": Fraction(1, 25), "message_time": Fraction(63, 800)}


def test_a_switch_that_reduces_lies_between_the_floors() -> None:
    for n in (2, 8, 576):
        end_points, network = Fraction(2 * (n - 1), n), Fraction(1)
        gain = at(entry("switch_reduction_gain").bound, {"n": Fraction(n)})
        assert network <= end_points / gain <= end_points or n == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("all_reduce_alpha_beta", "n=0", "size=1 GB", "bandwidth=1 GB/s", "alpha=1 us"), "n = 0"),
        (("all_reduce_ring", "n=8", "size=1 GB", "bandwidth=0 GB/s", "alpha=1 us"), "bandwidth = 0"),
        (("all_gather", "n=8", "size=1 s", "bandwidth=1 GB/s"), "B expected"),
        (("broadcast", "n=1", "size=1 GB", "bandwidth=1 GB/s", "alpha=1 us"), "n = 1"),
        (("torus_bisection", "side=5", "axes=3"), "holds where"),
        (("leaf_spine_bisection", "leaves=3", "hosts=1", "spines=1", "host_rate=1 GB/s", "up_rate=1 GB/s"), "holds"),
    ],
)
def test_bad_input_is_named(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    assert run(["bound", *words]) == 2
    assert said in capsys.readouterr().err
