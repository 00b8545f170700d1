"""Relaxation times by hand, and which runs settle."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.simulate.requests.program import Arrivals, Outage, Program, RateBurst, Route, Service, Source, Station
from coherence.simulate.study.latencies import Array, Latencies
from coherence.simulate.study.start_up import StationLoad, is_scheduled, relaxation, settles_after

EDGES = np.linspace(0.0, 600.0, 121)
EXPONENTIAL = Service(0.1)


def program(arrivals: Arrivals, service: Service = EXPONENTIAL, outages: tuple[Outage, ...] = ()) -> Program:
    source = Source("web", arrivals, (("call",),))
    return Program((source,), (Station("s", 1, service),), (Route("call", "s"),), outages)


def runs(scale: Array) -> list[Latencies]:
    """Five runs whose latencies are exponential with a mean that changes from window to window."""
    random, every = np.random.default_rng(1), []
    for _ in range(5):
        start = np.repeat(EDGES[:-1] + 0.5, 40)
        latencies = Latencies(EDGES)
        latencies.add(start, start + random.exponential(np.repeat(scale, 40)), np.ones(len(start), dtype=bool))
        latencies.arrived = latencies.counts.sum(axis=1)
        every.append(latencies)
    return every


def test_the_relaxation_time_grows_with_the_square_of_what_is_free() -> None:
    for busy, expected in ((0.5, 0.9), (0.9, 36.1)):  # 2 rho m 2 / (1 - rho)^2 + m
        load = {"s": StationLoad(600 * busy, 600.0, 600.0, 1000)}
        assert relaxation(program(Arrivals(rate=9.0)), [load]) == pytest.approx(expected)


def test_a_queue_that_never_grows_forgets_soon_even_at_full_load() -> None:
    load = {"s": StationLoad(600.0, 600.0, 600.0, 10)}
    assert relaxation(program(Arrivals(rate=20.0)), [load]) == pytest.approx(0.2 * (20 / np.pi) ** 2 + 0.1)


def test_constant_services_forget_twice_as_fast() -> None:
    load = {"s": StationLoad(540.0, 600.0, 600.0, 1000)}
    fixed = relaxation(program(Arrivals(rate=9.0), Service(0.1, "constant", 0.0)), [load])
    assert fixed - 0.1 == pytest.approx((relaxation(program(Arrivals(rate=9.0)), [load]) - 0.1) / 2)


def test_outages_bursts_and_traces_are_scheduled() -> None:
    assert not is_scheduled(program(Arrivals(rate=9.0)))
    assert is_scheduled(program(Arrivals(rate=9.0), outages=(Outage("s", 60.0, 3.0),)))
    assert is_scheduled(program(Arrivals(rate=9.0, bursts=(RateBurst(20.0, 60.0, 3.0),))))
    assert is_scheduled(program(Arrivals("trace", times=(1.0,))))


def test_what_stays_alike_settles_at_once_what_changes_later_and_what_grows_never() -> None:
    assert settles_after(runs(np.ones(120))) == 0.0
    late = settles_after(runs(np.where(np.arange(120) < 30, 0.5, 1.0)))
    assert late is not None
    assert 0.2 <= late <= 0.3
    assert settles_after(runs(1.0 + np.arange(120) / 20)) is None


def test_what_is_cut_or_measured_forgets_as_its_own_spread_says() -> None:
    load = {"s": StationLoad(540.0, 600.0, 600.0, 1000)}
    quantiles = ((0.0, 0.0), (1.0, 0.2))
    for service, mean, variation in (
        (Service(0.1, "quantiles", quantiles=quantiles), 0.1, 1 / 3),
        (Service(0.1, "constant", most=0.05), 0.05, 0.0),
    ):
        expected = 2 * 0.9 * mean * (1 + variation) / 0.1**2 + mean
        assert relaxation(program(Arrivals(rate=9.0), service), [load]) == pytest.approx(expected)
