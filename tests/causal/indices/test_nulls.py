"""Systems whose answer is known: pure overhead, a system that is its twin, disjoint resources, another unit of time."""

from __future__ import annotations

import numpy as np
import pytest

from bench._causal_indices import disjoint
from coherence.causal.data.index_inputs import IndexInputs
from coherence.causal.data.request_log import RequestLog, request_log
from coherence.causal.indices import IndexRefusal, MeasuredIndex, coherence_index, delay, measured_indices, waves
from coherence.causal.twins.coordinated_twin import starts
from tests.causal.indices.systems import pool

NAMES = ("CI", "DI", "WPI", "HCL", "kappa")


def told(facts: IndexInputs, names: tuple[str, ...] = NAMES) -> dict[str, MeasuredIndex]:
    found = measured_indices(facts, names)
    assert not [one for one in found if isinstance(one, IndexRefusal)]
    return {one.index.name: one for one in found if isinstance(one, MeasuredIndex)}


@pytest.mark.parametrize("bursts", [False, True])
@pytest.mark.parametrize("load", [0.3, 0.5, 0.7, 0.8, 0.9])
def test_a_pure_overhead_is_the_delay_index_at_every_load(load: float, bursts: bool) -> None:
    log = pool(load, overhead=0.055, bursts=bursts, until=200.0)
    found = delay.measure(IndexInputs(log, servers=20), variants=False)
    assert isinstance(found, MeasuredIndex)
    assert 0.054 <= found.estimate.value <= 0.055 + 1e-9


@pytest.mark.parametrize("load", [0.3, 0.7, 0.9])
def test_the_fixed_overhead_of_a_launch(load: float) -> None:
    log = pool(load, until=200.0)
    took = log.need + 0.0055
    late = request_log(log.arrival, log.need, starts(log.arrival, took, 20) + took)
    found = delay.measure(IndexInputs(late, servers=20), variants=False)
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == pytest.approx(0.055, abs=0.002)


def test_where_deadlines_bind_the_overhead_is_the_coherence_index() -> None:
    found = coherence_index.measure(IndexInputs(pool(0.9, overhead=0.055, bursts=True), servers=20))
    assert isinstance(found, MeasuredIndex)
    assert found.bound == ""
    assert found.estimate.value == pytest.approx(1 / 1.055, abs=2e-3)


def test_where_they_do_not_only_a_bound_is_told() -> None:
    found = coherence_index.measure(IndexInputs(pool(0.3, overhead=0.055, deadline=60.0), servers=20))
    assert isinstance(found, MeasuredIndex)
    assert found.bound == ">="
    assert found.estimate.value <= 1 / 1.055 + 1e-6
    assert found.estimate.high == np.inf


@pytest.mark.parametrize("bursts", [False, True])
@pytest.mark.parametrize("load", [0.4, 0.8, 0.95])
def test_a_system_that_is_its_twin(load: float, bursts: bool) -> None:
    found = told(IndexInputs(pool(load, bursts=bursts), servers=20))
    assert found["CI"].estimate.value == pytest.approx(1.0, abs=1e-9)
    assert 1.0 in found["CI"].estimate
    assert found["DI"].estimate.value == pytest.approx(0.0, abs=1e-8)
    assert found["WPI"].estimate.value == 0.0
    assert found["WPI"].says == "no wave"
    assert found["HCL"].estimate.value == pytest.approx(0.0, abs=1e-12)


def test_disjoint_resources_have_no_wave() -> None:
    surely = 0
    for seed in range(6):
        found = waves.measure(IndexInputs(disjoint(seed, until=150.0), servers=16))
        assert isinstance(found, MeasuredIndex)
        assert found.says != "no wave"
        surely += found.estimate.low > 0
    assert surely == 0


def test_a_shared_pool_in_need_of_coordination_shares_its_fate() -> None:
    """One pool with bursts of one service and a large overhead: the other waits as long."""
    rng = np.random.default_rng(3)
    from tests.causal.indices.systems import arrivals

    one = arrivals(rng, 60.0, 600.0, bursts=True, times=4.0)
    two = arrivals(rng, 60.0, 600.0, bursts=False)
    came, names = np.concatenate([one, two]), np.array(["a"] * len(one) + ["b"] * len(two))
    order = np.argsort(came)
    came, names = came[order], names[order]
    needs = rng.exponential(0.1, len(came))
    ends = starts(came, 1.3 * needs, 20) + 1.3 * needs
    found = waves.measure(IndexInputs(request_log(came, needs, ends, service=names), servers=20))
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.low > 0.3
    assert 0.7 < found.estimate.value < 1.3


@pytest.mark.slow
def test_ten_times_as_long_is_the_same() -> None:
    log = pool(0.85, overhead=0.2, bursts=True)
    one, ten = told(IndexInputs(log, servers=20)), told(IndexInputs(log.scaled(10.0), servers=20))
    for name in NAMES:
        assert ten[name].estimate.value == pytest.approx(one[name].estimate.value, abs=5e-4)
        assert ten[name].estimate.low == pytest.approx(one[name].estimate.low, abs=2e-3)


@pytest.mark.parametrize(("servers", "sign"), [(18, -1), (22, 1)])
def test_capacity_misdeclared_slightly_moves_the_index_little_and_in_the_expected_direction(
    servers: int, sign: int
) -> None:
    found = delay.measure(IndexInputs(pool(0.7, overhead=0.055), servers=servers), variants=False)
    assert isinstance(found, MeasuredIndex)
    assert abs(found.estimate.value - 0.055) < 0.05
    assert sign * (found.estimate.value - 0.055) > 0


def test_wrong_needs_are_as_many_points() -> None:
    log = pool(0.3, until=100.0)
    from dataclasses import replace

    found = delay.measure(IndexInputs(replace(log, need=log.need / 1.05), servers=20), variants=False)
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == pytest.approx(0.05, abs=1e-3)


@pytest.mark.slow
def test_where_bursts_rarely_coincide_there_is_no_interval() -> None:
    """Two services whose capped pools a coincidence hurts, three bursts in the window: nobody knows how often."""
    from coherence.causal.sections.indices import render_indices

    few, many = (capped(every=every) for every in (400.0, 6.0))
    found = delay.measure(IndexInputs(few, servers=12))
    assert isinstance(found, MeasuredIndex)
    assert np.isfinite(found.estimate.value)
    assert found.estimate.high == np.inf
    assert "no interval" in found.notes[-1]
    assert "[" not in render_indices([found], parts=False)[0]
    known = delay.measure(IndexInputs(many, servers=12))
    assert isinstance(known, MeasuredIndex)
    assert 0.0 < known.estimate.low < known.estimate.high < 2.0


def capped(*, every: float, until: float = 1200.0) -> RequestLog:
    """Two services of six servers each; a burst of a twentieth of the time, at random, in every so many seconds."""
    rng, parts = np.random.default_rng(7), []
    for _ in range(2):
        begins = np.arange(0, until, every) + rng.uniform(0, 0.9 * every, int(until / every))
        came = np.concatenate([rng.uniform(0, until, int(20 * until)), *(
            rng.uniform(begin, begin + every / 20, int(40 * every / 20)) for begin in begins)])  # fmt: skip
        came.sort()
        needs = rng.exponential(0.1, len(came))
        parts.append((came, needs, starts(came, needs, 6) + needs))
    came, needs, ends = (np.concatenate(column) for column in zip(*parts, strict=True))
    return request_log(came, needs, ends, service=np.repeat(["a", "b"], [len(parts[0][0]), len(parts[1][0])]))
