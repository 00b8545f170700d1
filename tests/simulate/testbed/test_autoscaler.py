"""The autoscaler testbed: its own law against the executor's, its files against their readers, and the real thing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.door.output_schemas import output_schema
from coherence.door.result import head
from coherence.language.design import Design
from coherence.language.expressions.tree import Name, Number
from coherence.language.reading import read_design, read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, RateLimit, SampledLoop
from coherence.simulate.execute.laws import Memory
from coherence.simulate.execute.laws import decide as executed
from coherence.simulate.testbed import autoscaler_backend, autoscaler_load
from coherence.simulate.testbed.autoscaler import (
    AutoscalerReproduction,
    ReplicaCourse,
    applies,
    as_json,
    comparisons,
    course,
    orbit_of,
    predict,
    reproduce_autoscaler,
    text,
    write_files,
)
from coherence.simulate.testbed.autoscaler_files import AutoscalerPorts, files, query
from coherence.simulate.testbed.autoscaler_ideal import decisions, ready
from coherence.simulate.testbed.autoscaler_law import Behaviour, Controller, Policy, recommendation
from coherence.simulate.testbed.autoscaler_run import PACKAGES, AutoscalerObservation, programs
from coherence.simulate.testbed.autoscaler_set_up import set_up, slack
from coherence.simulate.testbed.processes import ProcessFailedError, binary, free_ports
from tests.draws import few
from tests.paths import ROOT
from tests.simulate.testbed.testbed_helpers import undisturbed

LAG, REPAIRED = ROOT / "specs/hpa-metric-lag/design.yaml", ROOT / "specs/hpa-metric-lag-repaired/design.yaml"
CYCLE = [5, 7, 9, 9, 8, 6, 4, 4, 4]
TEXT = LAG.read_text(encoding="utf-8")


def installed(name: str) -> str:
    """The path of a program, or the test is skipped."""
    path = binary(name)
    if path is None:
        pytest.skip(f"{name} is not installed (Debian package {PACKAGES.get(name, 'prometheus')})")
    return path


def changed(*pairs: tuple[str, str]) -> Design:
    """The design of specs/hpa-metric-lag with some words changed."""
    found = TEXT
    for old, new in pairs:
        assert old in found
        found = found.replace(old, new)
    return read_text(found)


# -- the law ------------------------------------------------------------------------------------------

PLAIN = Behaviour(Fraction(100), Fraction(1, 10), 1, 100)


@pytest.mark.parametrize(
    ("current", "measured", "wanted"),
    [(3, 200, 6), (4, 50, 2), (10, 110, 10), (10, 90, 10), (10, 111, 12), (10, 89, 9), (7, 101, 7)],
)
def test_ratio_tolerance_and_ceil(current: int, measured: int, wanted: int) -> None:
    assert recommendation(PLAIN, current, Fraction(measured)) == wanted


def test_readings_are_floats_too() -> None:
    assert [recommendation(PLAIN, 3, reading) for reading in (200.0, 99.5, 50.0)] == [6, 3, 2]


def test_a_decrease_waits_for_the_highest_recommendation_of_the_window() -> None:
    controller = Controller(replace(PLAIN, hold_down=Fraction(30)))
    readings = {0: 200, 15: 50, 30: 50, 45: 50}
    current, seen = 4, []
    for time, reading in readings.items():
        current = controller.decide(Fraction(time), current, Fraction(reading))
        seen.append(current)
    assert seen == [8, 8, 8, 4]  # at 30 s the window is closed: it still holds the recommendation made at 0 s


def test_the_policy_that_allows_most_binds() -> None:
    policies = (Policy("up", 4, Fraction(0), Fraction(15)), Policy("up", 0, Fraction(1), Fraction(15)))
    assert Controller(replace(PLAIN, policies=policies)).decide(Fraction(0), 2, Fraction(1000)) == 6
    assert Controller(replace(PLAIN, policies=policies)).decide(Fraction(0), 10, Fraction(1000)) == 20


def test_a_policy_counts_from_where_the_count_stood_before_it_rose() -> None:
    controller = Controller(replace(PLAIN, policies=(Policy("down", 0, Fraction(0), Fraction(60)),)))
    assert controller.decide(Fraction(0), 1, Fraction(300)) == 3
    assert controller.decide(Fraction(15), 3, Fraction(0)) == 1  # back to the count of a minute ago, no further


def test_a_count_outside_its_bounds_moves_to_the_bound_at_once() -> None:
    policies = (Policy("up", 1, Fraction(0), Fraction(15)),)
    behaviour = replace(PLAIN, lowest=10, policies=policies)
    assert Controller(behaviour).decide(Fraction(0), 2, Fraction(100)) == 10


class Reading:
    """What the executor's law sees: one metric at one time."""

    def __init__(self, time: Fraction, measured: Fraction) -> None:
        self.time, self.measured = time, measured

    def value(self, path: str) -> Any:
        assert path == "metric"
        return self.measured


TEMPLATE = elaborate(read_text(TEXT)).loops[0]
SHARES = st.fractions(0, 1, max_denominator=8)
WINDOWS = st.sampled_from([Fraction(n) for n in (0, 2, 3, 4, 8)])


@st.composite
def loops(draw: st.DrawFn) -> SampledLoop:
    """Autoscalers with windows, bounds and policies, deciding every 2 s."""
    low = draw(st.integers(1, 6))
    ways = st.sampled_from([(True, False), (False, True), (True, True)])
    rates = [
        RateLimit(
            Fraction(draw(st.integers(0, 5))), draw(SHARES), draw(st.sampled_from([Fraction(2), Fraction(5)])), *w
        )
        for w in draw(st.lists(ways, max_size=3))
    ]
    return replace(
        TEMPLATE,
        measured=Name("metric"),
        ready=None,  # all are, at a decision: they boot within a period
        setpoint=Number(draw(st.fractions(Fraction(1, 4), 2, max_denominator=8))),
        tolerance=draw(st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3)])),
        bounds=Interval(Fraction(low), Fraction(low + draw(st.integers(0, 20)))),
        rates=tuple(rates),
        hold_down=draw(WINDOWS),
        hold_up=draw(WINDOWS),
    )


def behaviour_of(loop: SampledLoop) -> Behaviour:
    assert isinstance(loop.setpoint, Number)
    assert loop.bounds.low is not None
    assert loop.bounds.high is not None
    policies = [Policy("up", int(r.by or 0), r.percent or Fraction(0), r.per) for r in loop.rates if r.up]
    policies += [Policy("down", int(r.by or 0), r.percent or Fraction(0), r.per) for r in loop.rates if r.down]
    low, high = int(loop.bounds.low), int(loop.bounds.high)
    return Behaviour(loop.setpoint.value, loop.tolerance, low, high, loop.hold_down, loop.hold_up, tuple(policies))


@settings(max_examples=few(100), deadline=None)
@given(loops(), st.integers(1, 30), st.lists(st.fractions(0, 4, max_denominator=16), min_size=1, max_size=12))
def test_the_controller_decides_as_the_executor(loop: SampledLoop, start: int, readings: list[Fraction]) -> None:
    controller, memory = Controller(behaviour_of(loop)), Memory()
    current = Fraction(start)
    for k, reading in enumerate(readings):
        time = Fraction(2 * k)
        choice = executed(loop, Reading(time, reading), memory, False, current, current)  # type: ignore[arg-type]
        assert choice.value == controller.decide(time, int(current), reading)
        current = choice.value


# -- the plant ----------------------------------------------------------------------------------------


def test_a_replica_counts_once_it_was_wanted_for_its_whole_boot() -> None:
    counts = [(Fraction(-100), 2), (Fraction(0), 5), (Fraction(2), 3), (Fraction(4), 6)]
    boot = Fraction(3)
    assert [ready(counts, Fraction(t), boot) for t in (0, 2, 3, 4, 6, 7)] == [2, 2, 3, 3, 3, 6]


def test_the_two_designs_swing_and_settle() -> None:
    swinging, settling = set_up(read_design(LAG)), set_up(read_design(REPAIRED))
    lag = [d.desired for d in decisions(swinging.behaviour, swinging.plant, swinging.initial, 45)]
    assert lag == CYCLE * 5
    held = [d.desired for d in decisions(settling.behaviour, settling.plant, settling.initial, 30)]
    assert held == [5, 7, *[9] * 7, 8, 7, 6, *[5] * 18]


@settings(max_examples=few(12), deadline=None)
@given(
    st.integers(50, 150),
    st.sampled_from(["0 s", "200 ms", "700 ms", "1.7 s"]),
    st.sampled_from(
        ["scrape 1 s", "scrape 3 s", "scrape 1 s, mean 2 s", "scrape 2 s, mean 5 s", "scrape 1 s, rate 6 s"]
    ),
    st.sampled_from(["0 s", "4 s"]),
    st.integers(2, 8),
)
def test_the_testbed_computes_what_the_executor_computes(
    rate: int, boot: str, sensor: str, hold: str, start: int
) -> None:
    design = changed(
        ("98 req", f"{rate} req"), ("boot: 1.7 s", f"boot: {boot}"), ("scrape 1 s, mean 7 s", sensor),
        ("hold_down: 0 s", f"hold_down: {hold}"), ("from: 4", f"from: {start}"),
    )  # fmt: skip
    assert set_up(design).initial == start  # it compares forty decisions, and refuses the design otherwise


def test_requests_per_replica_are_a_metric_too() -> None:
    made = set_up(
        changed(("(pool.ready * pool.rate_per_replica)", "pool.ready"), ("setpoint: 50 %", "setpoint: 20 Hz"))
    )
    assert not made.plant.utilization
    assert [d.desired for d in decisions(made.behaviour, made.plant, made.initial, 9)] == CYCLE
    assert "/ 40" not in query(made)


def test_slack_is_the_time_to_the_next_scrape() -> None:
    assert slack(set_up(read_design(LAG)).plant) == Fraction(1, 2)  # 0.5 s to 1 s; replicas come at 2.2 s


@pytest.mark.parametrize(
    ("phase", "refused"), [("150 ms", False), ("850 ms", False), ("149 ms", True), ("851 ms", True)]
)
def test_a_decision_keeps_fifteen_hundredths_of_a_second_from_a_scrape(phase: str, refused: bool) -> None:
    late = changed(("phase: 500 ms", f"phase: {phase}"))
    if not refused:
        assert set_up(late).plant.scrape == 1
        return
    with pytest.raises(UsageError, match="at least 150 ms lie between"):
        set_up(late)


# -- what is refused ----------------------------------------------------------------------------------

READY = "min(pool.replicas, delayed(pool.replicas, pool.boot))"
EXTRA_LOOP = (
    "\n  other:\n    timescale: {period: 1 s}\n    actuation: {signal: pool.spare, by: 1, bounds: [0, 5], from: 0}\n"
)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("phase: 500 ms, ", "", "change `phase`"),
        ("boot: 1.7 s", "boot: 1.5 s", "change `boot`"),
        ("rate_per_replica: 40 req/s", "rate_per_replica: 30 req/s .. 40 req/s", "pool.rate_per_replica"),
        ("98 req/s", "80 req/s .. 98 req/s", "web.rate"),
        ("98 req/s", "9800 req/s", "at most 1000"),
        ("{rate: 98 req/s}", "{rate: 98 req/s, burst: {rate: 200 req/s, lasts: 2 s}}", "burst"),
        ("bounds: [1, 12]", "bounds: [1, 500]", "1 .. 24"),
        ("      from: 4\n", "", "from:"),
        ("scrape 1 s, mean 7 s", "scrape 1 s, max 7 s", "[scrape, max]"),
        ("mean 7 s", "mean 500 ms", "a second and more"),
        ("hold_down: 0 s", "lands: 1 s", "`boot`"),
        ("hold_down: 0 s", "cooldown: 3 s", "cooldown"),
        ("\npromises:", EXTRA_LOOP + "\npromises:", "one loop"),
        ("  web: {rate: 98 req/s}", "  web: {rate: 98 req/s}\n  more: {rate: 1 req/s}", "one workload"),
        ("web.attempts / (", "2 * web.attempts / (", "requests per ready replica"),
        (READY, "delayed(pool.replicas, pool.boot)", "removed at once"),
    ],
)  # fmt: skip
def test_what_the_testbed_cannot_do_is_refused_by_name(old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        set_up(changed((old, new)))
    assert said in str(refused.value)


def test_which_designs_are_for_this_testbed() -> None:
    assert applies(read_design(LAG))
    assert not applies(read_design(ROOT / "specs/retry-storm/design.yaml"))
    assert not applies(read_design(ROOT / "specs/throttle-backfill/design.yaml"))


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coherence.simulate.testbed.autoscaler_run.binary", lambda _: None)
    with pytest.raises(ProcessFailedError, match="Debian package prometheus"):
        programs()


# -- files, programs, verdicts ------------------------------------------------------------------------


def test_the_query_is_the_mean_over_time_of_what_was_scraped() -> None:
    assert query(set_up(read_design(LAG))) == (
        'avg_over_time((sum(rate(haproxy_backend_http_requests_total{proxy="pool_pool"}[4000ms]))'
        ' / sum(haproxy_backend_active_servers{proxy="pool_pool"}) / 40)[7000ms:10ms])'
    )
    assert not query(set_up(changed((", mean 7 s", "")))).startswith("avg")


def test_the_dry_run_writes_files_that_their_programs_accept(tmp_path: Path) -> None:
    haproxy, promtool = installed("haproxy"), installed("promtool")
    proxy, prometheus = write_files(read_design(LAG), tmp_path / "files")
    for command in ([haproxy, "-c", "-f", str(proxy)], [promtool, "check", "config", str(prometheus)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_scrape_interval_and_the_pool_are_the_design_s(tmp_path: Path) -> None:
    found = files(set_up(read_design(LAG)), AutoscalerPorts(1001, 1002, 1003), tmp_path)
    assert "scrape_interval: 1000ms" in found["prometheus.yml"]
    assert 'targets: ["127.0.0.1:1002"]' in found["prometheus.yml"]
    assert "server-template replica- 1-12 127.0.0.1:1 disabled" in found["haproxy.cfg"]
    assert all("127.0.0.1:" in line for line in found["haproxy.cfg"].splitlines() if " bind " in line)


def test_one_worker_serves_in_turn() -> None:
    ends = autoscaler_backend.in_turn(0.25)
    assert [ends(now) for now in (10.0, 10.1, 12.0)] == [10.25, 10.5, 12.25]


def test_every_request_of_a_load_is_counted_once() -> None:
    async def both() -> dict[str, float]:
        port = free_ports(1)[0]
        serving = asyncio.create_task(autoscaler_backend.serve(port, 0.015))
        await asyncio.sleep(0.05)
        told = await autoscaler_load.run(port, 100, 0.3)  # faster than it is served: requests overlap
        serving.cancel()
        return told

    told = asyncio.run(both())
    assert (told["sent"], told["served"]) == (30, 30)


@pytest.mark.parametrize(
    ("replicas", "settled", "expected"),
    [
        (CYCLE * 3, 0, (Fraction(18), 4, 9)),
        ([1, 12, *CYCLE * 3], 2, (Fraction(18), 4, 9)),
        ([5, 7, 9, 6, 5, 5, 5], 4, (None, 5, 5)),
        ([5, 7, 9, 9, 9, 6], 0, (Fraction(0), 5, 9)),
        ([3, 5], 7, (None, 5, 5)),
    ],
)
def test_what_a_sequence_comes_to(
    replicas: list[int], settled: int, expected: tuple[Fraction | None, int, int]
) -> None:
    assert course(replicas, Fraction(2), settled) == ReplicaCourse(tuple(replicas), *expected)


def reproduction(*replicas: int, served: int = 100, late: float = 0.0) -> AutoscalerReproduction:
    """What would be told of these decisions on the swinging design."""
    made = set_up(read_design(LAG))
    told = predict(made, orbit_of(made), len(replicas))
    ideal = decisions(made.behaviour, made.plant, made.initial, len(replicas))
    seen = tuple(replace(one, desired=count) for one, count in zip(ideal, replicas, strict=True))
    observation = AutoscalerObservation(seen, (), 100, served, late, 0.0, slack(made.plant))
    return AutoscalerReproduction(made, told, course(replicas, made.plant.period, 0), observation)


@pytest.mark.parametrize(
    ("replicas", "differs"),
    [
        (CYCLE * 3, []),
        ([5, 7, 10, 9, 8, 6, 4, 4, 4] * 3, []),
        ([5, 7, 11, 9, 8, 6, 4, 4, 4] * 3, ["highest replicas"]),
        ([5, 7, 9, 9, 6, 4, 4] * 4, ["period"]),
        ([5] * 27, ["period", "highest replicas"]),
        (CYCLE, ["period"]),
    ],
)
def test_an_observation_agrees_within_a_tenth_and_one_replica(replicas: list[int], differs: list[str]) -> None:
    found = reproduction(*replicas)
    assert [row.what for row in comparisons(found) if not row.agrees] == differs
    assert found.agrees is not bool(differs)
    assert text(found).count("differs") == len(differs)


def test_a_late_plan_is_told() -> None:
    assert "disturbed" not in text(reproduction(*CYCLE * 3))
    assert "disturbed: late by up to 0.60 s" in text(reproduction(*CYCLE * 3, late=0.6))


# -- the real thing -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_predicted_period_and_amplitude_are_seen_on_real_processes() -> None:
    installed("haproxy")
    installed("prometheus")
    designs = read_design(LAG), read_design(REPAIRED)
    with ThreadPoolExecutor(2) as both:
        first = list(both.map(reproduce_autoscaler, designs))
    swinging, settling = (
        undisturbed(partial(reproduce_autoscaler, design), lambda seen: seen.observation.disturbed, seen)
        for design, seen in zip(designs, first, strict=True)
    )
    assert swinging.predicted == ReplicaCourse(swinging.predicted.replicas, Fraction(18), 4, 9)
    assert swinging.agrees, text(swinging)
    assert swinging.observed.period is not None
    assert abs(swinging.observed.period - 18) <= Fraction(9, 5)
    assert settling.agrees, text(settling)
    assert settling.observed.period is None
    for found in (swinging, settling):
        assert len(comparisons(found)) == 3
        assert found.observation.served >= 0.99 * found.observation.sent
        assert found.alike == len(found.observation.decisions), text(found)
        document = {**head("reproduce"), **as_json(found), "assumptions": [], "not_read": []}
        jsonschema.Draft202012Validator(output_schema("reproduce", closed=True)).validate(
            json.loads(json.dumps(document))
        )


PROGRAM = """
from coherence.language.reading import read_design
from coherence.simulate.testbed.autoscaler import reproduce_autoscaler
import sys
reproduce_autoscaler(read_design(sys.argv[1]), progress=lambda line: print(line, flush=True))
"""


def children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds children in /proc")
def test_ctrl_c_leaves_no_process_behind() -> None:
    installed("haproxy")
    installed("prometheus")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, str(LAG)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert "time 0" in run.stdout.readline()
        started = children(run.pid)
        assert len(started) == 7  # HAProxy, Prometheus, the load, four replicas
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=20)
        assert run.returncode != 0
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
