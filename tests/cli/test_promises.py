"""`simulate` judges promises: exit code 1 where a run breaks one, in text, JSON and JUnit."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from coherence.cli._run import run as run_command

DESIGN = """\
coherence: 1
workload: {web: {rate: 5 req/s, service: {mean: 10 ms, cv: 0}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
promises:
  tail: "quantile(web.latency, 0.95) <= LIMIT"
  queue: always s.backlog <= 10000
  other: always fleet.load <= 2
"""


class Shell:
    """Runs the command on a design of which the limit is given, and keeps what it printed."""

    def __init__(self, folder: Path, printed: pytest.CaptureFixture[str]) -> None:
        self.path, self.printed, self.text = folder / "design.yaml", printed, ""

    def run(self, limit: str, *options: str) -> int:
        self.path.write_text(DESIGN.replace("LIMIT", limit))
        code = run_command(["simulate", str(self.path), "--for", "60 s", "--runs", "3", *options])
        self.text = self.printed.readouterr().out
        return code


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


@pytest.mark.parametrize(("limit", "code"), [("1 s", 0), ("1 ms", 1)])
def test_a_broken_promise_makes_the_exit_code_one(shell: Shell, limit: str, code: int) -> None:
    assert shell.run(limit) == code
    assert ("tail   broken" in shell.text) is (code == 1)
    assert "other  not decided" in shell.text


def test_an_undecided_promise_makes_strict_exit_four(shell: Shell) -> None:
    assert shell.run("1 s", "--strict") == 4
    assert shell.run("1 ms", "--strict") == 1


def test_promises_stand_in_json_with_figure_and_witness(shell: Shell) -> None:
    shell.run("1 ms", "-o", "json")
    (design,) = json.loads(shell.text)["designs"]
    tail, queue, other = design["promises"]
    assert (tail["verdict"], queue["verdict"], other["verdict"]) == ("broken", "held", "undecided")
    assert tail["figure"]["what"] == "P95"
    assert tail["figure"]["low"] <= tail["figure"]["value"] <= tail["figure"]["high"]
    assert (tail["name"], tail["line"]) == ("tail", 6)


def test_promises_stand_in_junit_as_cases(shell: Shell) -> None:
    shell.run("1 ms", "-o", "junit")
    suite = ET.fromstring(shell.text)[0]  # noqa: S314  (our own output)
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [child.tag for case in suite for child in case] == ["failure", "skipped"]
