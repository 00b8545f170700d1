"""The schemas of outputs: what the commands print is valid under them, and has no key that they do not name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from coherence.cli._run import run
from coherence.door.output_schemas import FORMS, output_schema
from coherence.door.result import head
from coherence.simulate.testbed import repeated
from coherence.simulate.testbed import words as reproduction
from tests.paths import DATA, SPECS
from tests.simulate.testbed.test_repeated import several
from tests.simulate.testbed.test_reproduction import sample

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
NETWORK = """network: 1
blocks: {queue: {numerator: [0.05], denominator: [1, 0], delay: 10 s}}
couplings: [{from: queue, to: queue, gain: -1}]
"""
SERIES = "time,a,b\n" + "".join(f"{10 * n},{n % 7},{(n + 1) % 7}\n" for n in range(60))
FILES = {
    "design.yaml": DESIGN, "fewer.yaml": DESIGN.replace("tries: 3", "tries: 1"), "broken.yaml": BROKEN,
    "network.yaml": NETWORK, "series.csv": SERIES,
}  # fmt: skip
ATTRIBUTED = str(SPECS / "loss-attribution/design.yaml")
BROKEN_TOO = {
    "analyze": ["broken.yaml"], "bound": ["broken.yaml"], "diff": ["design.yaml", "broken.yaml"],
    "fit": ["broken.yaml", "--telemetry", "series.csv"], "inventory": ["broken.yaml"], "rank": ["broken.yaml"],
    "region": ["broken.yaml", "-p", "a=1:2"], "reproduce": ["broken.yaml", "--with", "nginx"],
    "simulate": ["broken.yaml"], "sweep": ["broken.yaml", "-p", "a=1:2"],
}  # fmt: skip
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
    ["diff", "design.yaml", "fewer.yaml", "--select", "COH2", "-o", "json"],
    ["bound", "--prove", "erlang_loss", "-o", "json"],
    ["analyze", "--network", "network.yaml", "--peak", "queue:queue", "-o", "json"],
    ["analyze", "--series", "series.csv", "--response", "a:b", "-o", "json"],
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
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    run([str(folder / word) if word in FILES else word for word in words])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "words", [*QUICK, *(pytest.param(words, marks=pytest.mark.slow) for words in LONG)], ids=lambda words: words[0]
)
def test_what_a_command_prints_has_the_published_form(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mistakes(words[0], printed(words, tmp_path, capsys)) == []


def test_every_published_form_is_tried() -> None:
    assert {words[0] for words in (*QUICK, *LONG)} | {"reproduce"} == set(FORMS)


def test_what_is_reproduced_on_a_proxy_has_the_published_form() -> None:
    for fields in (reproduction.as_json(sample("collapsed")), repeated.as_json(several(True, False))):
        assert mistakes("reproduce", {**head("reproduce"), **fields, "not_read": []}) == []


@pytest.mark.parametrize("command", sorted(BROKEN_TOO))
def test_what_is_wrong_with_an_input_is_in_the_json_of_every_command(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = printed([command, *BROKEN_TOO[command], "-o", "json"], tmp_path, capsys)
    assert mistakes(command, document) == []
    (problem,) = document["problems"]
    assert Path(problem["place"]["file"]).name == "broken.yaml"
    assert problem["place"]["line"] > 0
    assert problem["message"]


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
