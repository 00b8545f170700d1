"""Routes of transfers over links, how long these take, and what a run and a proof make of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.language.shared_rates import calls_across
from coherence.model.routes import node_of, transfers
from coherence.simulate.processes import processes
from coherence.verify.calls.retry_policies import serve_time
from coherence.verify.facts.design_facts import known
from coherence.verify.queues.link_loads import link_ways

TEXT = """coherence: 1
workload: {r: {rate: 10 req/s}}
infrastructure:
  tiers: {a: {count: 4}, b: {count: 4}, c: {count: 4}}
  links: [{ends: [a, b], bandwidth: 1 MB/s, latency: 1 ms .. 2 ms, count: 2LINK}, {ends: [b, c], bandwidth: 10 MB/s}]
  boundaries: {far: {around: [c], call_delay: 20 ms .. 80 ms}}
components:
  web: {runs_on: a, copies: 4, takes: {serve: 5 ms}}
  shop: {runs_on: c, copies: 4, takes: {serve: 10 ms}}
calls:
  - {from: r, to: web}
  - {from: web, to: shop, carries: 100 kB}
"""
PLAIN = TEXT.replace("LINK", "")


def test_a_transfer_takes_latency_and_size_by_bandwidth_on_each_link_of_its_route() -> None:
    (transfer,) = transfers(read_text(PLAIN, "d"))
    assert [hop.name for hop in transfer.hops] == ["a - b", "b - c"]
    assert transfer.least == Fraction(1, 1000) + Fraction(1, 10) + Fraction(1, 100)
    assert transfer.alone == transfer.least + Fraction(1, 1000)


def test_the_time_of_an_answer_has_what_is_on_the_way_where_all_callers_have_it() -> None:
    design = read_text(PLAIN, "d")
    time = serve_time(design, "shop")
    assert time is not None
    assert (time.low, time.high) == (Fraction(141, 1000), Fraction(202, 1000))
    beside = PLAIN.replace("calls:\n", "calls:\n  - {from: near, to: shop}\n").replace(
        "components:\n", "components:\n  near: {runs_on: c, takes: {serve: 1 ms}}\n"
    )
    time = serve_time(read_text(beside, "d"), "shop")
    assert time is not None
    assert (time.low, time.high) == (Fraction(1, 100), Fraction(1, 100))


def test_a_run_waits_for_each_link_and_is_under_way() -> None:
    program = processes(read_text(PLAIN, "d")).program
    stations = {station.name: station for station in program.stations}
    assert (stations["link a - b"].servers, stations["link a - b"].service.mean) == (2, 0.1)
    assert stations["link a - b latency"].service.mean == pytest.approx(0.0015)
    assert stations["boundary far"].service.mean == pytest.approx(0.05)
    assert [stage[0] for stage in stations["web"].plan] == [
        "link a - b way", "link a - b latency way", "link b - c way", "boundary far way", "web -> shop",
    ]  # fmt: skip


def test_half_duplex_adds_both_ways_and_full_does_not() -> None:
    back = "  - {from: shop, to: desk, carries: 50 kB}\n"
    text = TEXT.replace("components:\n", "components:\n  desk: {runs_on: a, takes: {serve: 1 ms}}\n") + back
    for key, ways in (("", {"a - b", "b - a", "b - c", "c - b"}), (", duplex: half", {"a - b", "b - c", "c - b"})):
        design = read_text(text.replace("LINK", key), "d")
        assert {way.name for way in link_ways(known(Subject(design)))} == ways


def test_a_queue_is_where_its_servers_are() -> None:
    text = """coherence: 1
infrastructure: {links: [{ends: [a, pool], bandwidth: 1 MB/s}]}
components: {a: {}, pool: {}, q: {arrivals: a.served, served_by: pool}, lone: {}}
"""
    design = read_text(text, "d")
    assert [node_of(design, thing) for thing in ("a", "q", "lone")] == ["a", "pool", None]


def test_tiers_that_no_path_joins_are_asked_for_a_link() -> None:
    cut = PLAIN.replace("ends: [b, c]", "ends: [d, c]")
    (transfer,) = transfers(read_text(cut, "d"))
    assert transfer.hops == ()
    assert transfer.needs == "needs a link on the way from a to c: no path of links leads there"


def test_what_is_carried_to_a_tier_without_links_is_asked_for_one() -> None:
    text = """coherence: 1
infrastructure:
  tiers: {{a: {{count: 8}}, b: {{count: 8}}, c: {{count: 8}}}}
  links: [{{ends: [a, c], bandwidth: 1 MB/s}}]
components: {{x: {{runs_on: a}}, q: {{arrivals: x.served, served_by: y{carries}}}, y: {{runs_on: {tier}}}}}
"""
    (transfer,) = transfers(read_text(text.format(carries=", carries: 1 MB", tier="b"), "d"))
    assert (transfer.hops, transfer.callee) == ((), "q")
    assert transfer.needs == "needs a link on the way from a to b: no path of links leads there"
    for carries, tier in (("", "b"), (", carries: 1 MB", "a")):
        assert not transfers(read_text(text.format(carries=carries, tier=tier), "d"))


def test_calls_across_a_boundary_have_one_end_in_it() -> None:
    design = read_text(PLAIN, "d")
    assert calls_across(design, "far") == {"r -> web", "web -> shop"} - {"r -> web"}
    assert calls_across(read_text(PLAIN.replace("around: [c]", "around: [a, c]"), "d"), "far") == {"r -> web"}
