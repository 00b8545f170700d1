"""An uncoordinated and a coordinated cluster on the same work: every index tells them apart."""

from __future__ import annotations

import numpy as np
import pytest

from bench._causal_indices import facts_of, values_of
from bench._clusters import BASE, COORD, Work, run
from coherence.causal.data.request_log import RequestLog
from coherence.causal.indices import delay


def logs(until: float, seed: int) -> tuple[RequestLog, RequestLog]:
    base, after = (run(cluster, Work(), seed=seed, until=until, compiled=False) for cluster in (BASE, COORD))
    return base, after


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_indices_separate(seed: int) -> None:
    base, after = (
        values_of(facts_of(cluster, log)) for cluster, log in zip((BASE, COORD), logs(200.0, seed), strict=True)
    )
    for name in ("DI", "HCL"):
        assert base[name] > after[name]
    assert base["CI"] < after["CI"]


@pytest.mark.slow
def test_ten_times_as_long_is_the_same() -> None:
    log = logs(60.0, 4)[1]
    one, ten = values_of(facts_of(COORD, log)), values_of(facts_of(COORD, log.scaled(10.0)))
    assert ten == pytest.approx(one, abs=1e-6)


@pytest.mark.slow
def test_compiled_or_not_the_cluster_is_the_same() -> None:
    one, two = (run(BASE, Work(), seed=5, until=20.0, compiled=compiled) for compiled in (True, False))
    assert np.array_equal(one.end, two.end, equal_nan=True)
    assert np.array_equal(one.held, two.held)


@pytest.mark.slow
def test_the_cluster_keeps_its_books() -> None:
    base, after = logs(120.0, 3)
    for log in (base, after):
        assert (log.need * log.devices <= log.held)[log.completed].all()
        assert log.attempts.max() <= 2
        requests = log.of_class("requests")
        assert sum(delay.stage_delays(requests).values()) == pytest.approx(requests.delay, abs=1e-9)
    assert base.arrival.tolist() == after.arrival.tolist()
