"""What is written for Envoy: its limits, pauses and time-outs are the design's, and what it cannot do is told."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.simulate.requests.program import RetryBudget, RetryPause
from coherence.simulate.testbed.proxies import envoy
from coherence.simulate.testbed.set_up import SetUp
from tests.simulate.testbed.testbed_helpers import DESIGN, PORTS, SHARE, THREE, lacking, made, routed, written


def resources(setup: SetUp) -> dict[str, Any]:
    return dict(json.loads(written("envoy", setup))["static_resources"])


def thresholds(setup: SetUp) -> dict[str, Any]:
    (limits,) = resources(setup)["clusters"][0]["circuit_breakers"]["thresholds"]
    return dict(limits)


def route(setup: SetUp) -> dict[str, Any]:
    (listener,) = resources(setup)["listeners"]
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return dict(manager["route_config"]["virtual_hosts"][0]["routes"][0]["route"])


def policy(**changes: Any) -> dict[str, Any]:
    return dict(route(routed(**changes))["retry_policy"])


def seconds(duration: str) -> float:
    assert duration.endswith("s")
    return float(duration[:-1])


def test_the_limits_are_those_of_the_design() -> None:
    assert thresholds(made())["max_retries"] == thresholds(made())["max_requests"] == 1_000_000_000
    assert thresholds(made(DESIGN + THREE))["max_retries"] == 3
    assert thresholds(made(DESIGN + SHARE))["retry_budget"] == {
        "budget_percent": {"value": 20.0},
        "min_retry_concurrency": 3,
    }
    breaker = "limits: {cap: {counts: clients in flight, at_most: 9, when_full: reject}}\n"
    assert thresholds(made(DESIGN + breaker))["max_requests"] == 9


def test_without_a_budget_no_budget_is_written() -> None:
    assert "retry_budget" not in thresholds(made(DESIGN + THREE))


def test_the_proxy_listens_and_calls_on_its_ports_of_loopback() -> None:
    (listener,), (cluster,) = resources(made())["listeners"], resources(made())["clusters"]
    (endpoint,) = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"]
    assert listener["address"]["socket_address"] == {"address": "127.0.0.1", "port_value": PORTS.proxy}
    assert endpoint["endpoint"]["address"]["socket_address"] == {"address": "127.0.0.1", "port_value": PORTS.backend}


@pytest.mark.parametrize("tries", [2, 3, 7])
def test_retries_are_the_tries_after_the_first(tries: int) -> None:
    assert policy(tries=tries)["num_retries"] == tries - 1
    assert policy(tries=tries)["retry_on"] == "gateway-error"


def test_one_try_has_its_limit_and_no_retries() -> None:
    assert policy(tries=1) == {"per_try_timeout": "0.25s"}


def test_the_deadline_bounds_the_whole_request() -> None:
    assert route(routed(deadline=0.6))["timeout"] == "0.6s"
    assert route(routed(deadline=math.inf))["timeout"] == "0s"  # Envoy's word for none


@pytest.mark.parametrize(
    ("pause", "base", "most"),
    [
        (RetryPause(), 0.001, 0.001),
        (RetryPause(0.025, spread=(0.0, 1.0)), 0.025, 0.2),  # eight times: more than either of the two pauses
        (RetryPause(0.025, cap=0.04, spread=(0.0, 1.0)), 0.025, 0.04),
        (RetryPause(0.025, cap=0.01, spread=(0.0, 1.0)), 0.025, 0.025),  # Envoy refuses a maximum below the base
        (RetryPause(0.0002, spread=(0.0, 1.0)), 0.001, 0.008),
    ],
)
def test_pauses(pause: RetryPause, base: float, most: float) -> None:
    interval = policy(pause=pause)["retry_back_off"]
    assert (seconds(interval["base_interval"]), seconds(interval["max_interval"])) == (base, most)


@given(st.integers(1, 10_000), st.integers(2, 40))
def test_envoy_cuts_no_pause_that_the_design_leaves_open(base: int, tries: int) -> None:
    interval = policy(pause=RetryPause(base / 1000, spread=(0.0, 1.0)), tries=tries)["retry_back_off"]
    longest = base / 1000 * 2.0 ** (min(tries, 20) - 2)
    assert seconds(interval["max_interval"]) >= longest
    assert seconds(interval["base_interval"]) == pytest.approx(base / 1000, abs=1e-6)


@pytest.mark.parametrize("pause", [RetryPause(0.01), RetryPause(0.01, factor=3, spread=(0.0, 1.0))])
def test_other_pauses_than_its_own_are_refused(pause: RetryPause) -> None:
    assert lacking("envoy", routed(pause=pause)) == ["pause"]
    assert not lacking("envoy", routed(pause=pause, tries=1))  # never drawn


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({}, []),
        ({"pause": RetryPause(0.01, spread=(0.0, 1.0))}, []),
        ({"deadline": 0.3}, []),
        ({"budget": RetryBudget(0.2)}, []),
        ({"budget": RetryBudget(0.2, of="first")}, ["budget"]),
        ({"most_retries": 3.0}, []),
        ({"budget": RetryBudget(0.2), "most_retries": 3.0}, ["budget"]),
        ({"breaker": 9.0}, []),
        ({"breaker": 9.0, "retry_on": ("timeout", "rejected"), "tries": 1}, []),
        ({"retry_on": ("timeout", "rejected")}, []),
    ],
)
def test_what_envoy_cannot_do(changes: dict[str, Any], keys: list[str]) -> None:
    assert lacking("envoy", routed(**changes)) == keys


def test_several_can_run_at_once() -> None:
    words = "envoy -c envoy.json --concurrency 1 --disable-hot-restart --log-level error"
    assert " ".join(envoy.command("envoy")) == words
    assert " ".join(envoy.checker("envoy")) == f"{words} --mode validate"


HEDGED = {"tries": 1, "per_try": 0.4, "deadline": 0.4, "hedge_after": 0.2}


def test_a_second_copy_goes_once_and_the_route_ends_both() -> None:
    sent = route(routed(**HEDGED))
    assert sent["hedge_policy"] == {"hedge_on_per_try_timeout": True}
    assert (sent["timeout"], sent["retry_policy"]["per_try_timeout"]) == ("0.4s", "0.2s")
    assert sent["retry_policy"]["num_retries"] == 1
    assert "hedge_policy" not in route(made())


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({}, []),
        ({"tries": 2}, ["tries"]),
        ({"deadline": math.inf}, ["deadline"]),
        ({"deadline": 0.5}, ["deadline"]),  # the first would be given up before the second
        ({"hedge_after": 0.4}, ["deadline"]),
        ({"breaker": 9.0}, ["budget"]),
    ],
)
def test_what_keeps_second_copies_from_being_sent_as_the_call_says(changes: dict[str, Any], keys: list[str]) -> None:
    assert lacking("envoy", routed(**(HEDGED | changes))) == keys
    assert "hedge_after" in lacking("nginx", routed(**HEDGED))
    assert "hedge_after" in lacking("haproxy", routed(**HEDGED))
