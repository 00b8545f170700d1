"""The rule: harmless queueing is legitimate, amplifying retries are instability, the rest is a local excess."""

from __future__ import annotations

import numpy as np
import pytest

from bench import _causal_indices as bench
from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs
from coherence.causal.data.request_log import request_log
from coherence.causal.twins.coordinated_twin import starts
from coherence.causal.twins.queueing import INSTABILITY, LEGITIMATE, LOCAL, UNDECIDED, backlog, decide, returns


@pytest.mark.parametrize("seed", range(5))
def test_harmless_systems_are_legitimate(seed: int) -> None:
    found = bench.decided(bench.legitimate(seed, until=60.0), 20, seed)
    assert found.verdict == LEGITIMATE
    assert found.p > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_amplifying_retries_are_instability(seed: int) -> None:
    found = bench.decided(bench.retrying(seed, compiled=False), 22, seed)
    assert found.verdict == INSTABILITY
    assert found.attempts > 1.05
    assert found.reasons[0].startswith("it amplifies")
    assert found.p == pytest.approx(1 / 40)


def test_a_slow_place_that_stays_where_it_is_is_a_local_excess() -> None:
    rng = np.random.default_rng(1)
    came = np.sort(rng.uniform(0, 100, 4000))
    needs = rng.exponential(0.1, len(came))
    log = request_log(came, needs, starts(came, 1.8 * needs, 10) + 1.8 * needs, attempts=1.0)
    found = decide(IndexInputs(log, servers=10), seed=1)
    assert found.verdict == LOCAL
    assert "not looked at: the return to quiet after a burst, the wave propagation index" in found.reasons[0]


def test_demand_above_capacity_asks_for_capacity() -> None:
    came = np.linspace(0, 10, 400)
    needs = np.full(400, 0.1)
    log = request_log(came, needs, starts(came, needs, 2) + needs, attempts=1.0)
    found = decide(IndexInputs(log, servers=2), seed=1)
    assert found.verdict == LEGITIMATE
    assert found.overloaded
    assert "capacity" in str(found)


def test_the_return_after_a_burst_by_hand() -> None:
    """Ten at once on one server of need 1, then nothing: quiet 9 s later, which is the work that waits."""
    log = request_log(np.zeros(10), np.ones(10), np.arange(1.0, 11.0), until=20.0)
    times, present = backlog(log)
    assert present.max() == 10
    assert times[-1] == 10.0
    assert returns(log, 1, 0.0) == (9.0, 9.0)
    assert np.isnan(returns(log, 20, 0.0)).all()


def test_a_queue_that_outlives_its_burst_does_not_return() -> None:
    """A burst of 2 s, and services that take 1.7 times as long for all that follows."""
    rng = np.random.default_rng(2)
    came = np.sort(np.concatenate([rng.uniform(0, 60, 300), rng.uniform(10, 12, 200)]))
    needs = np.full(len(came), 0.1)
    took = np.where(came > 10, 0.17, 0.1)
    log = request_log(came, needs, starts(came, took, 1) + took, attempts=1.0)
    found = decide(IndexInputs(log, servers=1), seed=1, burst=ArrivalBurst("", 10.0, 12.0))
    assert found.verdict == INSTABILITY
    assert found.reasons[0].startswith("it does not return")
    healthy = request_log(came, needs, starts(came, needs, 1) + needs, attempts=1.0)
    assert decide(IndexInputs(healthy, servers=1), seed=1, burst=ArrivalBurst("", 10.0, 12.0)).verdict == LEGITIMATE


def test_what_is_missing_is_undecided() -> None:
    found = decide(IndexInputs(request_log([0.0], [1.0], [1.0])), seed=1)
    assert found.verdict == UNDECIDED
    assert found.reasons == ("how many servers the latency class may claim (`entitlement` of its workload)",)
