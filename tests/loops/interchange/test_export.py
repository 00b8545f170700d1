"""`coherence export`: what it writes, what it asks for, and that the network is read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.cli._run import run
from tests.loops.designs.test_bridged_laps import LAG

pytest.importorskip("control", reason="python-control is not installed")
TWO = (
    LAG
    + LAG.split("loops:\n")[1].replace("ctl:", "second:").replace("heater.power", "fan.speed").replace("room", "hall")
).replace(
    "components:\n",
    """components:
  hall: {state: "temp' = (10 - hall.temp + 2 * fan.speed) / 300 s", from: 12}
""",
)


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.yaml"
    path.write_text(LAG)
    return path


@pytest.mark.slow
def test_the_network_in_json_is_analyzed_again(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = design.parent / "network.json"
    assert run(["export", str(design), "--as", "json", "-o", str(file)]) == 0
    run(["analyze", "--network", str(file), "-o", "json"])
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["verdict"] == "unstable"
    assert abs(complex(*verdict["multipliers"][0])) == pytest.approx(1.0428880490)
    assert run(["export", str(file), "--as", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["samplers"] == json.loads(file.read_text())["samplers"]


@pytest.mark.slow
def test_a_script_goes_to_standard_output_and_a_mat_file_does_not(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(design), "--as", "python-control"]) == 0
    assert "L['ctl'] = control.ss(" in capsys.readouterr().out
    assert run(["export", str(design), "--as", "mat"]) == 2
    assert "name it with -o" in capsys.readouterr().err
    assert run(["export", str(design), "--as", "mat", "-o", str(design.parent / "a.mat")]) == 0
    assert run(["export", str(design), "--as", "mat", "-o", str(design)]) == 2  # never over something else


@pytest.mark.slow
def test_of_several_groups_one_is_named(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design.write_text(TWO)
    assert run(["export", str(design), "--as", "json"]) == 2
    assert "2 groups of loops: name a loop (--loop) of ctl; second" in capsys.readouterr().err
    assert run(["export", str(design), "--as", "json", "--loop", "second"]) == 0
    assert "fan.speed" in json.loads(capsys.readouterr().out)["samplers"]
    assert run(["export", str(design), "--as", "json", "--loop", "third"]) == 2


def test_a_design_without_feedback_has_nothing_to_export(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design.write_text("coherence: 1\ncalls:\n  - {from: app, to: api, deadline: 10 s, per_try: 5 s, tries: 2}\n")
    assert run(["export", str(design), "--as", "json"]) == 2
    assert "no groups of loops in feedback" in capsys.readouterr().err


def test_a_block_that_cannot_be_opened_is_named(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design.write_text("network: 1\nblocks: {a: {numerator: [1], denominator: [1, 1]}}\n")
    assert run(["export", str(design), "--as", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["exported"]["notes"] == ["a is not opened: a is in no loop"]
