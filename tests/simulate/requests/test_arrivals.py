"""Arrival times: by hand where nothing is random, by their counts where something is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.simulate.requests.arrivals import blocks, checked_trace
from coherence.simulate.requests.draws import BLOCK
from coherence.simulate.requests.program import Arrivals, RateBurst


def times(arrivals: Arrivals, until: float, seed: int = 1) -> list[float]:
    every = itertools.chain.from_iterable(block.tolist() for block in blocks(arrivals, seed, "a"))
    return list(itertools.takewhile(lambda time: time <= until, every))


def test_regular_arrivals_come_at_their_rate() -> None:
    assert times(Arrivals("regular", 4.0), 1.5) == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5]
    assert times(Arrivals("gamma", 2.0, 0.0), 1.5) == [0.5, 1.0, 1.5]


def test_a_burst_changes_the_rate_while_it_lasts() -> None:
    # one a second, four a second from 2 s to 3 s: each quarter second there
    once = Arrivals("regular", 1.0, bursts=(RateBurst(4.0, 2.0, 1.0, 0.0),))
    assert times(once, 5.1) == [1, 2, 2.25, 2.5, 2.75, 3, 4, 5]
    again = Arrivals("regular", 1.0, bursts=(RateBurst(4.0, 2.0, 1.0, 3.0),))
    assert times(again, 6.1) == [1, 2, 2.25, 2.5, 2.75, 3, 4, 5, 5.25, 5.5, 5.75, 6]


def test_nothing_comes_without_a_rate_and_a_burst_alone_ends() -> None:
    assert times(Arrivals("regular", 0.0), 9) == []
    alone = Arrivals("regular", 0.0, bursts=(RateBurst(4.0, 2.0, 1.0, 0.0),))
    assert times(alone, math.inf) == [2.25, 2.5, 2.75, 3]


def test_a_trace_is_replayed_and_checked() -> None:
    stated = tuple(float(n) for n in range(BLOCK + 3))
    assert [len(block) for block in blocks(Arrivals("trace", times=stated), 1, "a")] == [BLOCK, 3]
    assert times(Arrivals("trace", times=(0.0, 1.0, 1.0, 2.5)), 9) == [0, 1, 1, 2.5]
    for bad, why in (
        ((1.0, math.nan), "not a finite"),
        ((-1.0,), "is negative"),
        ((2.0, 1.0), r"comes before times\[0\]"),
    ):
        with pytest.raises(UsageError, match=why):
            checked_trace("a", bad)
    assert checked_trace("a", np.array([0.0, 2.0])).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("arrivals", "cv"),
    [(Arrivals(rate=20.0), 1.0), (Arrivals("gamma", 20.0, 0.5), 0.5), (Arrivals("gamma", 20.0, 2.0), 2.0)],
)
def test_random_arrivals_have_their_rate_and_variation(arrivals: Arrivals, cv: float) -> None:
    gaps = np.diff(times(arrivals, 1000))
    assert gaps.mean() == pytest.approx(1 / 20, rel=0.05)
    assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=0.05)
    assert times(arrivals, 3) == times(arrivals, 3)
    assert times(arrivals, 3) != times(arrivals, 3, seed=2)


def test_a_rate_that_switches_spends_its_time_in_its_states() -> None:
    # 1 req/s for 30 s on average, 9 req/s for 10 s: 3 req/s in all
    switching = Arrivals("mmpp", 0.0, states=((1.0, 30.0), (9.0, 10.0)))
    assert len(times(switching, 20_000)) / 20_000 == pytest.approx(3, rel=0.1)
    counts = np.histogram(times(switching, 20_000), bins=2000)[0]
    assert counts.var() > 3 * counts.mean()  # of Poisson arrivals they are equal
