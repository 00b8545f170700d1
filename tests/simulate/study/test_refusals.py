"""Inputs that no design should hold: studies answer in words, never by a wrong number, a crash or an endless run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.cli._run import run
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, Execution, execute
from coherence.simulate.execute.orbits import long_run
from coherence.simulate.processes import processes
from coherence.simulate.serving.trace import ArrivalTrace
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

PLAIN = """\
coherence: 1
workload: {clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 4}}
calls:
  - {from: clients, to: workers, per_try: 250 ms, tries: 3, on_timeout: abandon}
"""
SCALED = """\
coherence: 1
workload: {requests: {rate: 400 req/s}}
components:
  gateway: {uses: queue, arrivals: requests.attempts, served_by: pool}
  pool: {uses: replica_pool, takes: {start: 6 s}, rate_per_replica: 500 req/s}
loops:
  autoscaler:
    target: {signal: gateway.utilization, setpoint: 10 %, tolerance: 60 %}
    timescale: {period: 10 s, phase: PHASE}
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64], from: 8}
calls:
  - {from: requests, to: gateway, on_timeout: abandon}
"""


def ran(text: str, *, until: float = 20.0, **setting: object) -> Study:
    return study(read_text(text, "design.yaml"), Setting(until, seeds=(1,), **setting))  # type: ignore[arg-type]


def shown(found: Study, of: str, what: str) -> float:
    return next(r.value for r in found.readings if (r.of, r.what) == (of, what))


def test_a_run_that_does_not_get_on_is_an_answer_without_numbers() -> None:
    with pytest.raises(UsageError, match="stopped at"):
        ran(PLAIN.replace("per_try: 250 ms, tries: 3", "per_try: 0 ms, tries: unlimited"))


def test_a_run_that_needs_more_than_it_may_use_keeps_what_it_has() -> None:
    found = ran(PLAIN, events=1500)
    assert "limit of 1,500 events" in found.limit
    assert 5 < shown(found, "clients", "P50") * 1000 < 100
    assert 30 < shown(found, "clients", "arrive") < 80  # of the 12 s that it ran


def test_more_that_live_at_once_can_be_allowed() -> None:
    text = PLAIN.replace("copies: 4", "copies: 1")
    assert "more than 100 requests" in ran(text, live=100).limit
    assert not ran(text).limit


@pytest.mark.parametrize("path", ["clients.rate", "workers.copies", "nothing.there"])
def test_a_value_that_no_run_reads_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match=path):
        ran(PLAIN, values={path: Fraction(1)})


def test_the_warm_up_is_left_out_of_the_counts_too() -> None:
    short = ran(PLAIN.replace("tries: 3", "tries: 1"), until=60.0, warmup=40.0, pauses=(("workers", 1.0, 5.0),))
    assert shown(short, "clients -> workers", "time out") < 5  # the pause makes it 8 % or more of the whole run
    assert 40 < shown(short, "clients", "arrive") < 60


@pytest.mark.parametrize(
    ("change", "by"),
    [
        ("copies: 4", "copies: 4e30"),
        ("tries: 3", "tries: 3, pause: {base: 1e400 s, cap: 1e400 s}"),
        ("rate: 50 req/s", "rate: 1e400 req/s"),
    ],
)
def test_numbers_that_floats_cannot_hold_are_an_answer(change: str, by: str) -> None:
    with pytest.raises((UsageError, InputError)):
        ran(PLAIN.replace(change, by))


def test_no_copies_serve_nothing() -> None:
    assert shown(ran(PLAIN.replace("copies: 4", "copies: 0")), "workers", "servers") == 0


def test_a_stated_capacity_counts_beside_a_stated_service_time() -> None:
    (station,) = processes(read_text(PLAIN.replace("copies: 4", "capacity: 200 req/s"), "design.yaml")).program.stations
    assert station.servers / station.service.mean == pytest.approx(200)
    assert station.service.mean == pytest.approx(0.04)


@pytest.mark.parametrize(
    "limit",
    [
        "{counts: clients.retries, at_most: 10, window: 1 min, when_full: wait}",
        "{counts: clients.retries in flight, at_most: 20 % of others in flight, when_full: reject}",
        "{counts: clients.retries in flight, at_most: 20 % of clients in flight, when_full: wait}",
    ],
)
def test_a_limit_that_a_route_cannot_keep_is_told_and_not_run_as_another(limit: str) -> None:
    text = PLAIN.replace("abandon}", "abandon, budget: retries}") + f"limits: {{retries: {limit}}}\n"
    text = text.replace("cv: 1}}}", "cv: 1}}, others: {rate: 1 req/s, service: {mean: 40 ms}}}")
    found = processes(read_text(text, "design.yaml"))
    assert found.program.routes[0].budget is None
    assert found.program.routes[0].most_retries == float("inf")
    assert any(note.startswith("retries is not run") for note in found.assumptions)


def test_a_loop_just_after_a_tick_reads_what_was_measured_over_a_tick() -> None:
    at_tick, after = (ran(SCALED.replace("PHASE", phase), until=120.0) for phase in ("0 s", "1 ms"))
    assert shown(at_tick, "autoscaler", "writes") == shown(after, "autoscaler", "writes") == 0


def test_what_a_loop_beside_requests_lacks_is_named() -> None:
    text = SCALED.replace("PHASE", "0 s").replace("signal: gateway.utilization", "signal: outside.thing")
    with pytest.raises(InputError, match=r"outside\.thing"):
        ran(text)


def test_a_condition_that_a_plant_waits_for_is_part_of_where_a_run_stands() -> None:
    model = elaborate(read_text("""\
coherence: 1
components: {web: {state: "p' = (1 if (desired > 50 for 100 s) else 0)", step: 10 s}}
loops:
  hpa:
    timescale: {period: 10 s}
    rules: [{when: web.p > 0, to: 70}]
    actuation: {signal: web.desired, bounds: [1, 1000], from: 60}
""", "design.yaml"))  # fmt: skip
    choices = Choices({"web.p": Fraction(0)})
    orbit = long_run(model, choices).orbit
    assert orbit is not None
    assert orbit.still
    after = [i.after for i in execute(model, choices, until=Fraction(1000)) if i.time >= orbit.start]
    assert after[0]["web.p"] == 1
    assert all(values == after[0] for values in after)


def test_a_run_with_bursts_is_not_called_settled() -> None:
    found = ran("""\
coherence: 1
workload: {requests: {rate: 50 req/s, burst: {rate: 480 req/s, lasts: 3 s, every: 1 min}}}
loops:
  l:
    timescale: {period: 10 s}
    rules: [{when: requests.rate > 100 req/s, to: 7}, {when: requests.rate < 100 req/s, to: 3}]
    actuation: {signal: web.desired, bounds: [1, 64]}
""", until=200.0)  # fmt: skip
    assert shown(found, "l", "writes") > 4
    assert found.notes[0].startswith("without its bursts: ")


def test_more_instants_than_a_run_keeps_are_refused() -> None:
    with pytest.raises(UsageError, match="shorter --for"):
        ran(SCALED.replace("PHASE", "0 s"), until=1e9)


@pytest.mark.parametrize(("lasts", "every"), [("1 ns", "2 ns"), ("3 s", "2 s")])
def test_bursts_that_no_run_can_go_through_are_an_answer(lasts: str, every: str) -> None:
    with pytest.raises(InputError, match="burst"):
        ran(f"""\
coherence: 1
workload: {{requests: {{rate: 120 req/s, burst: {{rate: 480 req/s, lasts: {lasts}, every: {every}}}}}}}
components: {{q: {{state: "b' = max(0 req/s, requests.rate - 100 req/s)", from: 0 req}}}}
""", until=120.0)  # fmt: skip


def test_a_time_that_floats_cannot_hold_is_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = tmp_path / "design.yaml"
    design.write_text(PLAIN, encoding="utf-8")
    assert run(["simulate", str(design), "--for", "1e400s"]) == 2
    assert "too long" in capsys.readouterr().err


def test_a_streak_that_only_some_samples_look_at_is_refused() -> None:
    """`by: (5 if (p > 2 for 30 s) else 1)` would count the samples at which the rule was chosen, and no others."""
    text = """\
coherence: 1
components: {plant: {state: "p' = p + fed.rate", step: 10 s, from: 0}, fed: {}}
loops:
  feed:
    timescale: {period: 10 s}
    rules: [{when: p < 9, by: 5 if (p > 2 for 30 s) else 1}]
    actuation: {signal: fed.rate, bounds: [0, 9], from: 0}
"""
    with pytest.raises(NotExactError, match="at some samples only"):
        Execution(elaborate(read_text(text, "design.yaml")))


@pytest.mark.parametrize("setting", [{"trace": {"x": ArrivalTrace((0.0,))}}, {"pauses": (("x", 1.0, 2.0),)}])
def test_requests_that_a_design_does_not_have_are_no_setting(setting: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="'x': the design has none that do"):
        ran('coherence: 1\ncomponents: {a: {state: "x\' = a.x + 1", step: 1 s, from: 0}}\n', **setting)


FOLDED = {
    "bounds of a loop": """
loops:
  heater:
    timescale: {period: 1 s}
    rules: [{when: room.t < 18, to: 1}, {when: room.t >= 18, to: -1}]
    actuation: {signal: fire.level, bounds: [-1, c.k - 1], from: -1}
""",
    "a boundary": "infrastructure: {boundaries: {vm: {around: [room], gain: c.k / 2}}}\n",
    "a link": "infrastructure: {links: [{ends: [a, b], latency: 5 ms * c.k, bandwidth: 1 GB/s}]}\n",
    "a tier": "infrastructure: {tiers: {gpu: {memory: 40 GB * c.k}}}\n",
    "a job": "jobs: {train: {needs: {node: 4}, step: 2 s, mtbf: 3 h * c.k, checkpoint: 10 min}}\n",
    "a place": "places: {rack: {slot: 2 * c.k, count: 2}}\n",
    "a price": "prices: {node: 2.5 usd/h * c.k}\n",
}


@pytest.mark.parametrize("where", FOLDED)
def test_a_constant_behind_a_number_is_not_given_to_a_run(where: str) -> None:
    rooms = 'coherence: 1\ncomponents: {c: {k: 2, spare: 3}, room: {state: "t\' = t + 1", step: 1 s, from: 20}}\n'
    with pytest.raises(UsageError, match=r"became a number of c.k as it was read: change c.k in the design"):
        ran(rooms + FOLDED[where], values={"c.k": Fraction(3)})


def test_what_nothing_reads_is_not_given_to_a_run() -> None:
    rooms = 'coherence: 1\ncomponents: {c: {k: 2}, room: {state: "t\' = t + 1", step: 1 s, from: 20}}\n'
    with pytest.raises(UsageError, match=r"no loop, state or promise that is run reads c.k"):
        ran(rooms, values={"c.k": Fraction(3)})
    ran(rooms + "promises: {p: always room.t <= 90 * c.k}\n", values={"c.k": Fraction(3)})
    scaled = SCALED.replace("PHASE", "0 s").replace("components:\n", "components:\n  c: {k: 2}\n")
    with pytest.raises(UsageError, match=r"no loop, state or promise that is run reads c.k"):
        ran(scaled, values={"c.k": Fraction(3)})
    with pytest.raises(UsageError, match="is what the design states: change it there"):
        ran(PLAIN.replace("components: {", "components: {c: {k: 2}, "), values={"c.k": Fraction(3)})


def test_a_value_that_no_run_measures_is_answered_with_those_that_it_does() -> None:
    text = """coherence: 1
workload: {chat: {rate: 3 req/s, service: {mean: 1 s}}}
components: {node: {copies: 4}}
calls: [{from: chat, to: node}]
loops:
  grow:
    trigger: node.utilisation > 50 %
    timescale: {period: 5 s}
    actuation: {signal: node.desired, law: step, by: 1, from: 4, bounds: [1, 9]}
"""
    with pytest.raises(InputError, match="a run measures arrivals, backlog, utilization, busy, wait, served"):
        study(read_text(text, "d"), Setting(until=60.0, warmup=0.0, seeds=(1,)))
