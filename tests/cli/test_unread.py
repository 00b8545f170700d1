"""Each command names what it did not read, in text and in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.cli._run import run

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
    assert not any(name.startswith(("loops.valve", "components.tank")) for name in found)
    assert "components.pool.takes.answer" in found
