"""Predicted tails beside closed forms, and beside runs of the same designs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import coherence as co
from coherence.exploring.tail_changes import LATE, HopTail, TailChange, hop_tails, tail_changes, tail_of
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.simulate.requests.program import Service, Station

TEXT = """coherence: 1
workload: {{users: {{rate: {rate} req/s, service: {{mean: {mean} ms, cv: {cv}}}}}}}
components: {{pool: {{copies: {copies}}}}}
calls: [{{from: users, to: pool}}]
"""


def design(rate: float = 40, mean: float = 20, cv: float = 1, copies: int = 1) -> Design:
    return read_text(text_of(rate, mean, cv, copies), "d")


def text_of(rate: float = 40, mean: float = 20, cv: float = 1, copies: int = 1) -> str:
    return TEXT.format(rate=rate, mean=mean, cv=cv, copies=copies)


def test_a_single_exponential_server_has_its_closed_form() -> None:
    tail = hop_tails(design())["pool"]
    assert tail.load == pytest.approx(0.8)
    assert tail.p99 == pytest.approx(math.log(1 / LATE) / (50 - 40), rel=1e-3)


def test_without_load_the_tail_is_that_of_the_service() -> None:
    assert hop_tails(design(rate=0.001, cv=0))["pool"].p99 == pytest.approx(0.020)
    assert hop_tails(design(rate=0.001))["pool"].p99 == pytest.approx(0.020 * math.log(100), rel=5e-3)


def test_an_overloaded_hop_has_no_tail() -> None:
    tail = hop_tails(design(rate=50))["pool"]
    assert (tail.load, tail.p99) == (1.0, math.inf)


@pytest.mark.slow
def test_many_servers_wait_by_erlang() -> None:
    drawn, servers, rate = np.random.default_rng(3), 3, 2.4
    free, waits = np.zeros(servers), np.zeros(200_000)
    arrivals = np.cumsum(drawn.exponential(1 / rate, len(waits)))
    services = drawn.exponential(1.0, len(waits))
    for k, time in enumerate(arrivals):
        first = int(free.argmin())
        waits[k] = max(0.0, free[first] - time)
        free[first] = max(time, free[first]) + services[k]
    seen = float(np.quantile((waits + services)[1000:], 1 - LATE))
    assert tail_of(Station("s", servers, Service(1.0)), rate).p99 == pytest.approx(seen, rel=0.06)


def test_only_what_differs_is_a_change() -> None:
    assert tail_changes(design(), design()) == ()
    (change,) = tail_changes(design(), design(rate=45))
    assert change.hop == "pool"
    assert change.ratio == pytest.approx(2.0, rel=1e-3)
    assert math.isnan(TailChange("x", None, HopTail(0.5, 1.0)).ratio)


def test_a_design_that_says_no_times_has_no_tails() -> None:
    assert hop_tails(read_text("coherence: 1\ncomponents: {a: {copies: 2}}\n", "d")) == {}
    unknown = "coherence: 1\nworkload: {u: {rate: 1 req/s}}\ncomponents: {a: {copies: 2}}\ncalls: [{from: u, to: a}]\n"
    assert hop_tails(read_text(unknown, "d")) == {}


def test_a_link_is_a_hop_with_its_transfers() -> None:
    text = """coherence: 1
workload: {u: {rate: 5 req/s}}
infrastructure: {tiers: {east: {count: 8}, west: {count: 8}}, links: [{ends: [east, west], bandwidth: 10 GB/s}]}
components:
  a: {runs_on: east, copies: 4, rate_per_copy: 12 req/s}
  b: {runs_on: west, copies: 4, rate_per_copy: 12 req/s}
calls: [{from: u, to: a}, {from: a, to: b, carries: 1 GB}]
"""
    tail = hop_tails(read_text(text, "d"))["link east - west"]
    assert tail.load == pytest.approx(0.5)
    assert 0.1 < tail.p99 < 0.6


@pytest.mark.slow
def test_ratios_of_tails_are_those_of_runs() -> None:
    chance, errors = np.random.default_rng(11), []
    for _ in range(6):
        copies, cv = int(chance.integers(1, 6)), float(chance.choice([0.5, 1.0, 1.5]))
        loads = chance.uniform(0.5, 0.85, 2)
        texts = [text_of(round(load * copies / 0.02, 2), 20, cv, copies) for load in loads]
        seen = [p99_of(text) for text in texts]
        (change,) = tail_changes(*(read_text(text, "d") for text in texts))
        errors.append(abs(math.log(change.ratio) - math.log(seen[1] / seen[0])))
    assert np.mean(errors) < 0.08
    assert max(errors) < 0.25


def p99_of(text: str) -> float:
    """Returns the 99th percentile of how long requests take, of three runs (s)."""
    rows = co.simulate(text, until="20 min", runs=3).to_frame()
    return float(rows[(rows["of"] == "users") & (rows["what"] == "P99")]["mean"].iloc[0])


GANG = """coherence: 1
workload: {a: {rate: 1 req/s}}
infrastructure:
  tiers: {e: {count: 9}, w: {count: 9}}
  links: [{ends: [e, w], bandwidth: 1 GB/s}]
components:
  front: {runs_on: e, copies: 4, takes: {serve: 20 ms}}
  back: {runs_on: w, copies: 4, takes: {serve: 20 ms}}
  near: {runs_on: e, copies: 2, takes: {step: 1 s}}
  far: {runs_on: w, copies: 2, takes: {step: 1 s}}
calls:
  - {from: a, to: front}
  - {from: front, to: back, carries: 10 MB}
"""


def test_a_hop_that_a_gang_waits_for_is_not_told() -> None:
    assert "link e - w" in hop_tails(read_text(GANG, "d"))
    assert "link e - w" not in hop_tails(read_text(GANG + "  - {from: near, to: far, carries: 10 MB}\n", "d"))
