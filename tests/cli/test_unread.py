"""Each command names what it did not read, in text and in JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coherence.base.places import Place
from coherence.cli._run import run
from coherence.cli._unread import strict_code
from coherence.findings.finding import NotRead
from coherence.language import catalogue

DESIGN = """\
coherence: 1
workload: {users: {rate: 4 req/s}}
components:
  pool: {copies: 3, takes: {answer: 20 ms}}
  tank: {state: "level' = tank.level / 2 + tank.flow", from: 8, step: 1 s}
loops:
  valve:
    target: {signal: tank.level, setpoint: 2}
    timescale: {period: 1 s}
    actuation: {signal: tank.flow, law: step, by: 1, bounds: [0, 9], from: 0}
    rank: 2
    trigger: tank.level < 2
calls: [{from: users, to: pool, deadline: 2 s, tries: 2, on_timeout: cancel}]
limits: {memory: {counts: pool.memory, at_most: 7, window: 1 min}}
prices: {pool: 2 usd/h}
"""
COMMANDS = (
    ("simulate", "--for", "20 s", "--runs", "1"),
    ("analyze", "--no-retune"),
    ("bound",),
    ("region", "-p", "calls.0.tries=2:3", "--no-half-spaces", "--select", "COH201"),
    ("sweep", "-p", "loops.valve.actuation.by=1:2:2", "--jobs", "1"),
)  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "design.yaml"
    file.write_text(DESIGN)
    return str(file)


def lines(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], path: str) -> dict[str, bool]:
    assert run([words[0], path, *words[1:], "-o", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    rows = printed["not_read"] if "not_read" in printed else printed["designs"][0]["not_read"]
    return {".".join((row["section"], row["entry"], row["key"])): row["counts"] for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_limit_and_a_price_that_nobody_asks_for_are_named(
    words: tuple[str, ...], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = lines(capsys, words, path)
    assert found["limits.memory.window"] is True
    assert found["prices.pool."] is False
    assert run([words[0], path, *words[1:]]) == 0
    assert "\nnot read: " in capsys.readouterr().out


def test_what_a_run_depends_on_is_read(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, COMMANDS[0], path)
    assert not {"workload.users.rate", "components.pool.takes.answer", "calls.users -> pool.tries"} & set(found)


def test_what_a_loop_is_made_of_is_read_where_the_loop_is_analyzed(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = lines(capsys, COMMANDS[1], path)
    own = {name for name in found if name.startswith(("loops.valve", "components.tank"))}
    unused = {"target.setpoint"}  # of one loop, which acts by its trigger; a rank may not be a range in a proof
    assert own == {f"loops.valve.{key}" for key in unused}
    assert "components.pool.takes.answer" in found


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_strict_exits_4_where_a_value_that_counts_is_not_read(words: tuple[str, ...], path: str) -> None:
    assert run([words[0], path, *words[1:], "--strict"]) == 4


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "--for", "20 s", "--runs", "1"),
        ("analyze", "--no-retune"),
        ("sweep", "-p", "loops.valve.actuation.by=1:2:2", "--jobs", "1"),
    ],
    ids=lambda words: words[0],
)
def test_strict_passes_over_what_is_foreign_to_a_command(
    words: tuple[str, ...], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines_of_loop = [line for line in DESIGN.splitlines() if not line.startswith(FOREIGN)]
    Path(path).write_text("\n".join(lines_of_loop).replace("pool", "tank") + "\n")
    assert run([words[0], path, *words[1:], "--strict"]) == 0
    assert "not read: 1 value of prices tank" in capsys.readouterr().out


FOREIGN = ("workload", "  pool", "    rank", "    target", "calls", "limits")


def test_a_failure_is_reported_before_what_is_not_read() -> None:
    line = NotRead(Place("design.yaml", 1, 1, 1, 1), "limits", "room", "window", "a run does not have it", True)
    assert strict_code(1, [line], strict=True) == 1
    assert strict_code(0, [line], strict=True) == 4
    assert strict_code(0, [line], strict=False) == 0
    assert strict_code(0, [replace(line, counts=False)], strict=True) == 0
    assert strict_code(0, [], strict=True, left_open=True) == 4


def test_a_dry_reproduction_names_what_the_testbed_does_not_run(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(path).write_text(REPRODUCED)
    words = ["reproduce", path, "--with", "envoy", "--dry-run", "--into", str(tmp_path / "files")]
    assert run(words) == 0
    printed = capsys.readouterr().out
    assert "not read: 4 values of timers probe: from, every, misses, then (the testbed does not run it)" in printed
    assert "calls" not in printed
    assert run([*words[:-1], str(tmp_path / "more"), "--strict"]) == 4


REPRODUCED = """\
coherence: 1
workload: {clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 4}}
calls:
  - {from: clients, to: workers, tries: 3, per_try: 250 ms, retry_when: [timeout], on_timeout: abandon}
timers: {probe: {from: workers starts, every: 10 s, misses: 3, then: workers ends}}
"""


@pytest.mark.slow
def test_a_comparison_with_logs_names_what_it_does_not_depend_on(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    design = (RECORD / "designs" / "C1-min_scale-log-2023-09-19T23-28-22.yaml").read_text()
    words = ["simulate", path, "--observed", str(RECORD / "C1-min_scale"), "--strict"]
    Path(path).write_text(design)
    assert run(words) == 0
    assert "not read:" not in capsys.readouterr().out
    Path(path).write_text(design + "limits: {memory: {counts: app.memory, at_most: 7, window: 1 min}}\n")
    assert run(words) == 4
    reason = "(the comparison with logs does not have it)"
    assert f"not read: 3 values of limits memory: counts, at_most, window {reason}" in capsys.readouterr().out


RECORD = Path(__file__).parents[1] / "data" / "k8s_failure_reproduction"


@pytest.mark.parametrize("command", ["analyze", "bound"])
def test_a_promise_that_only_a_check_judges_is_named(
    command: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(path).write_text(f"{DESIGN}promises: {{low: always tank.level <= 90}}\n")
    words = next(words for words in COMMANDS if words[0] == command)
    assert lines(capsys, words, path)["promises.low."]


PARTS = """\
coherence: 1
workload: {users: {rate: 4 req/s}}
components:
  web: {uses: replica_pool, rate_per_replica: 1 req/s, takes: {start: 30 s}, cpu: 300 % / web.ready}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 60 %}
    actuation: {signal: web.desired, bounds: [1, 9]}
timers: {probe: {uses: liveness_probe, from: store hangs, then: restart store}}
"""
OF_PARTS = (
    ("simulate", "--for", "5 min"),
    ("analyze", "--no-retune"),
    ("region", "-p", "loops.hpa.actuation.bounds.1=8:9", "--no-half-spaces", "--select", "COH305"),
    ("sweep", "-p", "loops.hpa.target.setpoint=50:60:2", "--jobs", "1"),
)


@pytest.mark.slow
@pytest.mark.parametrize("words", OF_PARTS, ids=lambda words: words[0])
def test_what_the_parts_leave_out_that_were_read_is_assumed(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(PARTS)
    assert run([words[0], str(file), *words[1:], "-o", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assumed = printed["designs"][0]["assumptions"] if "designs" in printed else printed["assumptions"]
    assert {*catalogue.omissions("loops", "kubernetes_hpa")} <= {*assumed}
    assert not {*catalogue.omissions("timers", "liveness_probe")} & {*assumed}  # none of them runs it
    run([words[0], str(file), *words[1:]])
    assert "kubernetes_hpa leaves out several metrics" in capsys.readouterr().out
