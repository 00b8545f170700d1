"""The schemas of outputs: what the commands print is valid under them, and has no key that they do not name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from coherence.cli._run import run
from coherence.door.output_schemas import FORMS, output_schema
from tests.paths import DATA, SPECS

DESIGN = """coherence: 1
workload: {users: {rate: 4 req/s, service: {mean: 100 ms, cv: 1}}}
components:
  web: {copies: 2}
  pool: {desired: 1 .. 50, load: 20, util: load / desired}
loops:
  hpa:
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 15 s}
    actuation: {signal: pool.desired, from: 20, bounds: [1, 50]}
calls: [{from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3, on_timeout: abandon}]
timers: {kill: {from: web starts, after: 30 s, unless: web.start ends, then: restart web}}
promises: {few: pool.desired <= 40}
"""
BROKEN = "coherence: 1\nloops: {a: {perod: 5 s}}\n"
ATTRIBUTED = str(SPECS / "loss-attribution/design.yaml")
QUICK = [
    ["check", "design.yaml", "--select", "COH2", "-o", "json"],
    ["check", "broken.yaml", "-o", "json"],
    ["check", str(SPECS / "shutdown-retry"), "-o", "json"],
    ["analyze", "design.yaml", "-o", "json"],
    ["sweep", "design.yaml", "-p", "loops.hpa.target.setpoint=40 %:60 %:2", "-o", "json"],
    ["bound", "design.yaml", "-o", "json"],
    ["bound", "all_reduce_end_point", "n=8", "size=8 GiB", "bandwidth=300 GB/s", "-o", "json"],
    ["bound", "--list", "-o", "json"],
    ["inventory", "design.yaml", "-o", "json"],
    ["rules", "-o", "json"],
    ["rank", str(DATA / "petshop/low_traffic"), "-o", "json"],
]
LONG = [
    ["simulate", "design.yaml", "--for", "20 s", "-o", "json"],
    ["region", str(SPECS / "shutdown-retry/design.yaml"), "-p", "timers.time_limit.after=1 h:2 h", "-o", "json"],
    [
        "fit", ATTRIBUTED, "--telemetry", str(SPECS / "loss-attribution/telemetry.csv"), "--loss", "gateway.wait",
        "-o", "json",
    ],
]  # fmt: skip


def mistakes(command: str, printed: Any) -> list[str]:
    """What the closed schema says against an output."""
    validator = jsonschema.Draft202012Validator(output_schema(command, closed=True))
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in validator.iter_errors(printed)]


def printed(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    for name, text in (("design.yaml", DESIGN), ("broken.yaml", BROKEN)):
        (folder / name).write_text(text, encoding="utf-8")
    run([str(folder / word) if word in ("design.yaml", "broken.yaml") else word for word in words])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "words", [*QUICK, *(pytest.param(words, marks=pytest.mark.slow) for words in LONG)], ids=lambda words: words[0]
)
def test_what_a_command_prints_has_the_published_form(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mistakes(words[0], printed(words, tmp_path, capsys)) == []


def test_every_published_form_is_tried() -> None:
    assert {words[0] for words in (*QUICK, *LONG)} == set(FORMS)


@pytest.mark.parametrize("command", sorted(FORMS))
def test_the_schemas_are_some_and_refuse_what_is_no_output(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--of", command]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema == output_schema(command)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert mistakes(command, {"tool": 3})
    assert mistakes(command, "text")


def test_a_key_that_is_missing_or_of_another_type_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = printed(QUICK[0], tmp_path, capsys)
    assert report["findings"]
    assert mistakes("check", {**report, "seed": "none"})
    assert mistakes("check", {key: value for key, value in report.items() if key != "counts"})
    assert mistakes("check", {**report, "findings": [{**report["findings"][0], "certainly": True}]})


def test_a_command_without_a_form_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--of", "chek"]) == 2
    assert "did you mean 'check'" in capsys.readouterr().err
    assert run(["schema", "--of", "check", "-o", "markdown"]) == 2
