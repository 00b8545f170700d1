"""Links of requests: a wait for one link is that of one server with constant services, and latency adds to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import simulate
from coherence.simulate.requests.program import Arrivals, Program
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from tests.simulate.requests.test_fair_shares import fluid

TEXT = """coherence: 1
workload: {r: {rate: 5 req/s}}
infrastructure: {links: [{ends: [web, shop], bandwidth: 1 MB/s, latency: 300 ms}]}
components: {web: {copies: 1000, takes: {serve: 0 s}}, shop: {copies: 1000, takes: {serve: 0 s}}}
calls: [{from: r, to: web}, {from: web, to: shop, carries: 100 kB}]
"""


def mean_latency(text: str) -> float:
    run = study(read_text(text, "d"), Setting(until=4000.0, seeds=(1, 2)))
    return next(reading.value for reading in run.readings if (reading.of, reading.what) == ("r", "mean"))


@pytest.mark.slow
def test_the_wait_for_a_link_is_that_of_constant_services() -> None:
    load, takes = 0.5, 0.1  # M/D/1: load x takes / (2 (1 - load)), by Pollaczek and Khinchine
    expected = 0.3 + takes + load * takes / (2 * (1 - load))
    assert mean_latency(TEXT) == pytest.approx(expected, abs=0.01)
    assert mean_latency(TEXT.replace("latency: 300 ms", "latency: 0 s")) == pytest.approx(expected - 0.3, abs=0.01)


def program(text: str) -> Program:
    return processes(read_text(text, "d")).program


def test_a_design_without_links_on_the_way_is_as_it_was() -> None:
    bare = TEXT.replace("infrastructure: {links: [{ends: [web, shop], bandwidth: 1 MB/s, latency: 300 ms}]}\n", "")
    aside = TEXT.replace("ends: [web, shop]", "ends: [web, other]")
    assert program(bare) == program(aside)
    assert program(bare) != program(TEXT)


def test_what_carries_no_stated_size_takes_the_latency_alone_and_says_so() -> None:
    run = processes(read_text(TEXT.replace(", carries: 100 kB", ""), "d"))
    assert [station.name for station in run.program.stations if "link" in station.name] == ["link web - shop latency"]
    assert any("`carries` or `bandwidth` is not stated" in note for note in run.assumptions)


def test_a_queue_takes_what_another_one_has_served_over_the_link_between_their_servers() -> None:
    text = """coherence: 1
workload: {r: {rate: 5 req/s}}
infrastructure:
  tiers: {a: {count: 8}, b: {count: 8}}
  links: [{ends: [a, b], bandwidth: 1 MB/s}]
components:
  first: {uses: queue, arrivals: r.attempts, served_by: one}
  one: {uses: replica_pool, copies: 2, runs_on: a, rate_per_replica: 10 req/s, takes: {start: 1 s}}
  second: {uses: queue, arrivals: first.served, served_by: two, carries: 10 kB}
  two: {uses: replica_pool, copies: 2, runs_on: b, rate_per_replica: 10 req/s, takes: {start: 1 s}}
"""
    (source,) = program(text).sources
    assert [stage[0] for stage in source.plan] == ["r -> first", "link a - b way", "r -> second"]


ACROSS = """coherence: 1
workload: {long: {rate: 2 req/s}, near: {rate: 2 req/s}, far: {rate: 2 req/s}}
infrastructure:
  tiers: {a: {count: 9}, b: {count: 9}, c: {count: 9}}
  links:
    - {ends: [a, b], bandwidth: 1 MB/s, shares: fair, count: 2}
    - {ends: [b, c], bandwidth: 1 MB/s, shares: fair}
components:
  first: {copies: 99, runs_on: a, takes: {serve: 0 s}}
  start: {copies: 99, runs_on: a, takes: {serve: 0 s}}
  middle: {copies: 99, runs_on: b, takes: {serve: 0 s}}
  hub: {copies: 99, runs_on: b, takes: {serve: 0 s}}
  end: {copies: 99, runs_on: c, takes: {serve: 0 s}}
  last: {copies: 99, runs_on: c, takes: {serve: 0 s}}
calls:
  - {from: long, to: first}
  - {from: first, to: end, carries: 200 kB}
  - {from: near, to: start}
  - {from: start, to: middle, carries: 600 kB}
  - {from: far, to: hub}
  - {from: hub, to: last, carries: 100 kB}
"""


def test_a_transfer_over_two_links_shares_each_with_what_else_is_on_it() -> None:
    chance = np.random.default_rng(4)
    came = {name: np.cumsum(chance.exponential(0.45, 60)) for name in ("long", "near", "far")}
    whole = program(ACROSS)
    traced = (
        replace(each, arrivals=Arrivals("trace", times=tuple(came[each.name].tolist()))) for each in whole.sources
    )
    result = simulate(replace(whole, sources=tuple(traced)), seed=1, until=400)
    first = fluid((0.2,) * 60 + (0.6,) * 60, tuple(np.concatenate([came["long"], came["near"]])), 2)
    second = fluid((0.2,) * 60 + (0.1,) * 60, tuple(np.concatenate([first[:60], came["far"]])), 1)
    expected = dict(zip(came["long"], second[:60], strict=True))
    expected |= dict(zip(came["near"], first[60:], strict=True)) | dict(zip(came["far"], second[60:], strict=True))
    assert len(result.requests.start) == 180
    for start, end in zip(result.requests.start, result.requests.end, strict=True):
        assert end == pytest.approx(expected[float(start)], abs=1e-6)
    times = np.array(second[:60]) - came["long"]
    assert max(times) > 2 * min(times)  # others are in the way
