"""Requests that flow evenly count what a long run of requests counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coherence.simulate.requests.engine import RequestRun
from coherence.simulate.requests.program import Arrivals, PlanShare, Program, Route, Service, Source, Station
from coherence.simulate.study.even_flow import EvenFlow

TANDEM = Program(
    (Source("web", Arrivals(rate=30.0), (("web -> app",), ("web -> db",))),),
    (Station("app", 5, Service(0.1)), Station("db", 1, Service(0.0))),
    (Route("web -> app", "app"), Route("web -> db", "db")),
)


def test_counts_and_levels_are_those_of_a_long_run() -> None:
    flow, run = EvenFlow(TANDEM), RequestRun(TANDEM, seed=1)
    flow.advance(3_000.0)
    run.advance(3_000.0)
    seen, real = flow.observe(), run.observe()
    assert set(seen) <= set(real)
    for key in ("web -> app.tries", "app.served", "app.busy_seconds", "db.served"):
        assert seen[key] == pytest.approx(real[key], rel=0.02)
    assert (seen["app.servers"], seen["app.queue"], flow.overloaded) == (5, 0.0, False)


def test_what_servers_cannot_do_waits_and_is_served_when_there_are_more() -> None:
    """30 a second to two servers of 10 each: 10 a second wait; five servers take 20 a second of them away."""
    flow = EvenFlow(TANDEM)
    flow.set_servers("app", 2)
    flow.advance(60.0)
    assert flow.overloaded
    assert flow.observe()["app.queue"] == pytest.approx(600)
    flow.set_servers("app", 5)
    flow.advance(75.0)
    assert flow.observe()["app.queue"] == pytest.approx(300)
    flow.advance(95.0)
    assert flow.observe()["app.queue"] == 0
    assert flow.observe()["app.served"] == pytest.approx(30 * 95)


def test_as_many_as_are_served_are_too_many_to_rest() -> None:
    flow = EvenFlow(TANDEM)
    flow.set_servers("app", 3)
    assert flow.overloaded


def test_weights_that_move_divide_what_flows_from_then_on_as_in_a_run() -> None:
    """30 a second: halves for 1,000 s, then nine tenths to one; all weights 0 change nothing."""
    cases = (PlanShare("a", 1.0, (("web -> app",),)), PlanShare("b", 1.0, (("web -> db",),)))
    program = replace(TANDEM, sources=(Source("web", Arrivals(rate=30.0), cases[0].plan, cases=cases),))
    flow, run = EvenFlow(program), RequestRun(program, seed=1)
    for each in (flow, run):
        each.advance(1_000.0)
        each.set_weights("web", [9.0, 1.0])
        each.set_weights("web", [0.0, 0.0])
        each.advance(2_000.0)
    seen, real = flow.observe(), run.observe()
    assert (seen["web -> app.tries"], seen["web -> db.tries"]) == (15_000 + 27_000, 15_000 + 3_000)
    for key in ("web -> app.tries", "web -> db.tries"):
        assert seen[key] == pytest.approx(real[key], rel=0.03)  # over four standard deviations
