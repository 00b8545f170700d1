"""The door from Python: designs and networks analyzed, and their loops opened."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.loops.interchange.loop_analysis import analyze
from coherence.loops.networks.network import loop
from tests.loops.designs.test_bridged_laps import LAG

control = pytest.importorskip("control", reason="python-control is not installed")


@pytest.mark.slow
def test_a_design_gives_its_loop() -> None:
    analysis = analyze(LAG)
    assert analysis.verdict == "oscillates"
    assert analysis.loops == ("ctl",)
    opened = analysis.linearize("ctl")
    assert opened.L.dt == 60
    leaves = math.exp(-0.2)
    assert control.tf(opened.S).den[0][0] == pytest.approx([1, -leaves, 6 * (1 - leaves)])
    assert opened.notes == ("not in the linear loop: bounds of ctl",)
    assert json.dumps(analysis.to_dict())


@pytest.mark.slow
def test_text_path_and_mapping_are_one(tmp_path: Path) -> None:
    path = tmp_path / "lag.yaml"
    path.write_text(LAG)
    whole = {
        "coherence": 1,
        "components": {"a": {"state": "x' = -2 * delayed(a.x, 1 s) / 1 s", "from": 1}},
    }
    assert analyze(path).verdicts == analyze(LAG).verdicts
    assert analyze(whole).verdicts == {"a.x": "unstable"}


def test_flows_without_a_loop_have_exact_responses() -> None:
    text = 'coherence: 1\ncomponents: {a: {state: "x\' = -2 * delayed(a.x, 1 s) / 1 s", from: 1}}\n'
    opened = analyze(text).linearize("a.x")
    omega = np.array([0.1, 1.0, 9.0])
    assert np.allclose(opened.over(omega).L(1j * omega), 2 / (1j * omega) * np.exp(-1j * omega))


def test_a_network_gives_its_verdict_and_loops() -> None:
    analysis = analyze(loop([0.05], [1, 0], 10))
    assert (analysis.verdict, analysis.loops) == ("stable", ("loop",))
    assert analysis.linearize("loop").over([0.1]).L(0.1j) == pytest.approx(0.5 / 1j * np.exp(-1j))
    with pytest.raises(UsageError, match="no operating points"):
        analysis.linear_part("loop")


THRESHOLD = """
coherence: 1
components:
  tank: {state: "level' = (1 - valve.open) / 1 s", from: 1}
loops:
  ctl:
    timescale: {period: 1 s, phase: 0 s}
    trigger: tank.level > 2
    actuation: {signal: valve.open, law: set, to: 2, bounds: [0, 2], from: 0}
"""


@pytest.mark.slow
def test_what_has_no_linear_loop_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match=r"ctl.*(thresholds|no effect|feedback)"):
        analyze(THRESHOLD).linearize("ctl")
    with pytest.raises(UsageError, match="there are 1, counted from 0"):
        analyze(LAG).linearize("ctl", point=1)
    with pytest.raises(UsageError, match="there is no branch 1"):
        analyze(LAG).linearize("ctl", branch=1)
    with pytest.raises(UsageError, match="did you mean 'ctl'"):
        analyze(LAG).linearize("clt")


@pytest.mark.slow
def test_a_kink_asks_for_its_branch() -> None:
    text = LAG.replace(
        "5 + 3 * (20 - delayed(room.temp, 60 s))", "max(5 + 3 * (20 - room.temp), 5 + 1 * (20 - room.temp))"
    )
    analysis = analyze(text)
    with pytest.raises(UsageError, match="name a branch of 0: "):
        analysis.linearize("ctl")
    sides = {round(float(abs(analysis.linearize("ctl", branch=k).L(np.exp(1j))[()])), 9) for k in (0, 1)}
    assert len(sides) == 2
