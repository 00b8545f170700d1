"""Rates of first tries at the beginning of a run, beside what long runs count."""

from __future__ import annotations

import pytest

from coherence.simulate.requests.engine import simulate
from coherence.simulate.requests.first_tries import first_rate, first_tries
from coherence.simulate.requests.program import Arrivals, PlanShare, Program, Route, Service, Source, Station

CHAIN = Program(
    (
        Source("web", Arrivals(rate=40.0), (("web -> front",),), turns=(1, 3)),
        Source("jobs", Arrivals(rate=5.0), (("jobs -> db",),), cases=(
            PlanShare("twice", 1.0, (("jobs -> db",), ("jobs -> db",))), PlanShare("not", 3.0, (("jobs -> front",),)),
        )),
    ),
    (
        Station("front", 500, Service(0.01), plan=(("front -> db", "front -> cache"),)),
        Station("db", 500, Service(0.01), cases=(
            PlanShare("hit", 9.0, ()), PlanShare("miss", 1.0, (("db -> disk",),)),
        )),
        Station("cache", 500, Service(0.01)),
        Station("disk", 500, Service(0.01)),
    ),
    tuple(
        Route(name, name.rpartition(" ")[2])
        for name in ("web -> front", "jobs -> db", "jobs -> front", "front -> db", "front -> cache", "db -> disk")
    ),
)  # fmt: skip


def test_calls_of_calls_cases_and_turns_come_as_often_as_a_long_run_counts() -> None:
    rates = first_tries(CHAIN)
    assert rates == pytest.approx({
        "web -> front": 80, "jobs -> db": 2.5, "jobs -> front": 3.75, "front -> db": 83.75, "front -> cache": 83.75,
        "db -> disk": 8.625,
    })  # fmt: skip
    result = simulate(CHAIN, seed=1, until=2_000.0)
    for name, rate in rates.items():
        assert result.counters[f"{name}.tries"] / 2_000 == pytest.approx(rate, rel=0.05)


@pytest.mark.parametrize(
    ("arrivals", "rate"),
    [
        (Arrivals(rate=7.0), 7.0),
        (Arrivals("mmpp", 5.0, states=((2.0, 30.0), (8.0, 30.0))), 2.0),  # it begins in the first state
        (Arrivals("trace", times=tuple(k / 4 for k in range(1, 1001))), 4.0),
        (Arrivals("trace", times=(0.5, 1.0, 2.0)), 1.5),
        (Arrivals("trace", times=(0.0, 1.0, 2.0)), 1.0),  # the first opens the first gap
        (Arrivals("trace", times=(*(k / 4 for k in range(1, 241)), 61.0, 61.1, 61.2)), 4.0),
        (Arrivals("trace", times=()), 0.0),
        (Arrivals("trace", times=(0.0,)), 0.0),
    ],
)
def test_the_rate_at_the_beginning(arrivals: Arrivals, rate: float) -> None:
    assert first_rate(arrivals) == rate
