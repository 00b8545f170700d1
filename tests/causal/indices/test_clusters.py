"""An uncoordinated and a coordinated cluster on the same work: every index tells them apart."""

from __future__ import annotations

import pytest

from bench._causal_indices import estimates, facts_of
from bench._clusters import BASE, COORD, Work, run
from coherence.causal.indices import delay
from coherence.causal.request_log import RequestLog


def logs(until: float, seed: int) -> tuple[RequestLog, RequestLog]:
    base, after = (run(cluster, Work(), seed=seed, until=until) for cluster in (BASE, COORD))
    return base, after


@pytest.mark.parametrize("seed", [1, 2])
def test_the_indices_separate(seed: int) -> None:
    base, after = (
        estimates(facts_of(cluster, log)) for cluster, log in zip((BASE, COORD), logs(250.0, seed), strict=True)
    )
    for name in ("DI", "HCL"):
        assert base[name].estimate.value > after[name].estimate.value
    assert base["WPI"].estimate.high >= after["WPI"].estimate.low  # few bursts: never surely the other way round
    assert base["CI"].estimate.value < after["CI"].estimate.value


def test_the_cluster_keeps_its_books() -> None:
    base, after = logs(120.0, 3)
    for log in (base, after):
        assert (log.need * log.devices <= log.held)[log.completed].all()
        assert log.attempts.max() <= 2
        requests = log.of_class("requests")
        assert sum(delay.stage_delays(requests).values()) == pytest.approx(requests.delay, abs=1e-9)
    assert base.arrival.tolist() == after.arrival.tolist()
