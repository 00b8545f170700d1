"""`analyze --cross-check`: designs and networks beside python-control, and what is said where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.cli._run import run
from coherence.loops.interchange.design_cross_checks import cross_checks
from coherence.loops.interchange.loop_analysis import analyze
from tests.loops.designs.test_bridged_laps import LAG

pytest.importorskip("control", reason="python-control is not installed")
FLOW = 'coherence: 1\ncomponents: {a: {state: "x\' = -%s * delayed(a.x, 1 s) / 1 s", from: 1}}\n'


def test_every_operating_point_has_its_opinions() -> None:
    (check,) = cross_checks(analyze(LAG))
    assert (check.name, check.verdict) == ("ctl at operating point 0", "unstable")
    assert check.opinions[0].verdict == "unstable"
    assert "1.04289" in check.opinions[0].detail


@pytest.mark.parametrize(("gain", "verdict"), [("1", "stable"), ("2", "unstable")])
def test_flows_have_theirs(gain: str, verdict: str) -> None:
    (check,) = cross_checks(analyze(FLOW % gain))
    assert [check.verdict, check.opinions[0].verdict] == [verdict, verdict]


@pytest.mark.slow
def test_a_loop_that_an_unstable_one_feeds_is_judged_alone() -> None:
    stable = LAG.split("loops:\n")[1].replace("ctl:", "after:").replace("5 + 3 *", "0.1 * heater.power + 4.5 + 0.3 *")
    follower = stable.replace("heater.power, law", "fan.speed, law").replace("room.temp", "hall.temp")
    room = '  hall: {state: "temp\' = (10 - hall.temp + 2 * fan.speed) / 300 s", from: 12}\n'
    design = LAG.replace("components:\n", "components:\n" + room) + follower
    checks = {check.name.split(" at ")[0]: check for check in cross_checks(analyze(design))}
    assert checks["ctl"].verdict == checks["ctl"].opinions[0].verdict == "unstable"
    for check in checks.values():
        assert not check.differs


@pytest.mark.slow
def test_the_command_prints_them_and_fails_on_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design, file = tmp_path / "design.yaml", tmp_path / "net.yaml"
    design.write_text(LAG)
    assert run(["analyze", str(design), "--no-retune", "--cross-check"]) == 0
    assert "agreement: we say unstable, python-control says unstable" in capsys.readouterr().out
    file.write_text(
        "network: 1\nblocks: {a: {numerator: [1.8], denominator: [1, 0.12, 9], delay: 10 s}}\n"
        "couplings: [{from: a, to: a, gain: -1}]\n"
    )
    run(["analyze", "--network", str(file), "--cross-check", "-o", "json"])
    (check,) = json.loads(capsys.readouterr().out)["cross_check"]
    assert [opinion["contradicts"] for opinion in check["opinions"]] == [False, True, True, True]


@pytest.mark.slow
def test_each_branch_of_a_kink_has_its_own_opinions() -> None:
    """A gain of 0.5 above the rest and of 3 below it: the second one is unstable."""
    error = "(20 - delayed(room.temp, 60 s))"
    kinked = LAG.replace(f"5 + 3 * {error}", f"5 + min(0.5 * {error}, 3 * {error})")
    assert kinked != LAG
    checks = {check.name: check for check in cross_checks(analyze(kinked))}
    assert sorted(check.verdict for check in checks.values()) == ["stable", "unstable"]
    for name, check in checks.items():
        assert "branch" in name
        assert check.opinions[0].verdict == check.verdict
        assert not check.differs
