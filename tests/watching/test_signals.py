"""What is watched of a design, and what it lacks."""

from __future__ import annotations

import math

import pytest

from bench.known_systems.scraped import DESIGN, NEED, SERVERS
from coherence.base.errors import UsageError
from coherence.watching.signals import positive
from tests.watching.systems import system


def test_a_workload_has_its_servers_need_and_signals() -> None:
    watched = system()
    (load,) = watched.workloads
    assert (load.servers, load.need, load.deadline, load.cv) == (SERVERS, NEED, 4.0, 1.0)
    assert load.has("rate", "latency", "p99", "in_time", "done", "held")
    assert not load.has("service")
    assert watched.others == ("pool.members",)
    assert watched.lacks == ()


def test_what_is_not_stated_is_asked_for() -> None:
    watched = system("coherence: 1\nworkload: {web: {rate: 1 req/s}}\ntelemetry: {web.rate: up}\n")
    words = "\n".join(watched.lacks)
    for part in (
        "workload.web.entitlement",
        "workload.web.service",
        "web.latency",
        "web.held",
        "workload.web.deadline",
    ):
        assert part in words


def test_the_only_tier_of_the_only_workload_is_its_servers() -> None:
    text = "coherence: 1\ninfrastructure: {tiers: {gpu: {count: 5}}}\nworkload: {web: {rate: 1 req/s, service: 2 s}}\n"
    (load,) = system(text + "telemetry: {web.rate: up}\n").workloads
    assert (load.servers, load.need, load.cv) == (5, 2.0, 0.0)


def test_a_design_without_telemetry_is_refused() -> None:
    with pytest.raises(UsageError, match=r"write `telemetry: .* of web.rate, web.latency"):
        system(DESIGN[: DESIGN.index("telemetry")])


def test_amounts() -> None:
    assert [positive(x) for x in (1.0, 0.0, -1.0, math.nan, math.inf, None)] == [1.0, 0.0, None, None, None, None]
