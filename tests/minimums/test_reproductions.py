"""Reproductions of faults that were found in the engine, each by its command, with what is right there now.

Beside `test_missing_assumptions` (what a construction breaks is listed) and `losses/test_measured`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.cli._run import run

ALIGNED = """coherence: 1
system: a loop that decides one second after each scrape
workload: {web: {rate: 50 req/s}}
components: {pool: {rate_per_replica: 40 req/s, usage: web.attempts / (pool.replicas * pool.rate_per_replica)}}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: pool.usage, setpoint: 50 %, sensor: [scrape 30 s]}
    timescale: {period: 30 s, phase: 1 s, hold_down: 0 s}
    actuation: {signal: pool.replicas, bounds: [1, 12], from: 4}
"""
TRAINING = """coherence: 1
system: a training run
infrastructure:
  tiers:
    h100: {uses: h100_sxm, count: 16384}
"""
AT: tuple[tuple[str, float], ...] = (  # command, value in SI units
    ("quorum_latency round_trips=10ms,20ms,80ms", 0.01),
    ("quorum_latency round_trips=10ms", 0.0),
    ("erlang_loss servers=10 offered=10", 0.2145823431),
    ("erlang_waiting servers=10 offered=8", 0.4091800903),
    ("retries_for_availability p=0.05 availability=0.99999", 3),
    ("fork_join_time n=4 load=0.999999 mean=1_s", 999999.0),
    ("servers_for_wait offered=8 share=1", 9),
    ("bins_needed sizes=0.1,0.2 capacity=0.3", 1),
    ("slice_packing compute=1.2 each=0.1 memory=1.2 each_memory=0.1", 0),
    ("data_rate_continuous poles=1_rad/s", 1.4426950409 / 8),
    ("sampled_gain weights=0.3,0.3,0.1,0.2,0.1", 2.39803),
)
WRONG = (  # command, what its error says
    ("data_rate_continuous poles=1_Hz", "6.28319 rad/s"),
    ("all_reduce_end_point n=1e400 size=1GB bandwidth=450_GB/s", "too large"),
    ("all_reduce_endpoint n=8", "did you mean 'all_reduce_end_point'"),
)


def words_of(command: str) -> list[str]:
    """Returns the arguments; a space within a value is written as an underscore."""
    parts = (word.partition("=") for word in command.split())
    return ["bound", *(name + equals + (value.replace("_", " ") if equals else value) for name, equals, value in parts)]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "value"), AT, ids=[command for command, _ in AT])
def test_a_bound_that_was_wrong_or_crashed_has_its_value(
    capsys: pytest.CaptureFixture[str], command: str, value: float
) -> None:
    assert run([*words_of(command), "-o", "json"]) == 0
    low = json.loads(capsys.readouterr().out)["value"]["low"]
    assert low >= value * (1 - 1e-6)
    if not command.startswith("fork_join_time"):  # a bound by integrals: only that it has a value was a fault
        assert low == pytest.approx(value, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize(("command", "says"), WRONG, ids=[command for command, _ in WRONG])
def test_what_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str], command: str, says: str) -> None:
    assert run(words_of(command)) == 2
    assert says in capsys.readouterr().err


def measured(capsys: pytest.CaptureFixture[str], folder: Path, design: str, *measurements: str) -> str:
    file = folder / "design.yaml"
    file.write_text(design)
    assert run(["bound", str(file), *(word for one in measurements for word in ("--measured", one))]) == 0
    return capsys.readouterr().out


def test_a_loop_that_reads_just_after_its_scrape_refutes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shown = measured(capsys, tmp_path, ALIGNED, "hpa.reading_age_mean=16 s")
    assert "proved floor              16 s" in shown
    assert "violated" not in shown


def test_a_run_refutes_no_worst_case(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    name = "h100.eviction_ratio"
    shown = measured(capsys, tmp_path, TRAINING, f"{name}=1.6", f"{name}.slots=64", f"{name}.other=64")
    assert "a run below it refutes nothing" in shown
    assert "violated" not in shown


def test_boxes_with_links_inside_do_not_accuse_switches_that_add(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name = "h100.all_reduce_end_point"
    given = (f"{name}=43.75 ms", f"{name}.n=64", f"{name}.size=8GB", f"{name}.bandwidth=50 GB/s")
    shown = measured(capsys, tmp_path, TRAINING, *given)
    assert "one_attachment: network ports of its own" in shown
    assert "not end_point_reduction alone" in shown
    assert "full_duplex" not in shown.partition("violated")[2]
    assert "no_latency" not in shown.partition("violated")[2]


def test_a_witness_is_never_shown_below_its_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """At this load the chain of two queues would be cut; the run is left out and says why."""
    assert run(["bound", "fork_join_two", "load=0.995", "mean=1 s"]) == 0
    assert "not run at these inputs: at this load the chain needs" in capsys.readouterr().out
