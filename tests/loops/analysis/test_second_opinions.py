"""Wrong answers of one engine of an analysis, put in by hand, are told beside those of the other engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.loops.analysis import second_opinions
from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis, analysed
from coherence.loops.analysis.second_opinions import disagreements, render_disagreements
from coherence.loops.designs import disagreements as compared
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.predicted_cycles import CycleReading, predicted_within
from coherence.model.elaborate import elaborate
from coherence.model.model import Model

TANK = """\
coherence: 1
components:
  tank: {state: "level' = (1 - 0.5 * valve.open) / 1 s", from: 4.9}
loops:
  ctl:
    timescale: {period: 2 s, phase: 0 s}
    trigger: always
    actuation: {signal: valve.open, law: set, to: "0.4 * level", bounds: [0, 100], from: 2}
"""
SWINGING = """\
coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s, phase: 0 s}
    target: {signal: "delayed(web.usage, 30 s)", setpoint: 7}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 60], from: 9}
"""


def model_of(text: str) -> Model:
    return elaborate(read_text(text, "d.yaml"))


def only(analysis: DesignAnalysis) -> GroupAnalysis:
    (group,) = analysis.groups
    return group


def told(analysis: DesignAnalysis, cycles: tuple[CycleReading, ...] = ()) -> str:
    return render_disagreements(disagreements(analysis, cycles, Deadline(30)))


@pytest.mark.slow
def test_roots_and_runs_that_agree_say_nothing() -> None:
    for text in (TANK, TANK.replace("0.4", "2.1"), SWINGING):
        model = model_of(text)
        analysis = analysed(model)
        assert any(point.verdict in ("stable", "unstable") for point in only(analysis).points)
        assert not told(analysis, predicted_within(model, 10))


def test_roots_that_are_said_to_grow_beside_a_run_that_comes_back_are_told_with_both_commands() -> None:
    analysis = analysed(model_of(TANK))
    (point,) = only(analysis).points
    (name, roots) = point.branches[0]
    wrong = replace(point, verdict="unstable", branches=((name, replace(roots, growth=1 / roots.growth)),))
    line = told(replace(analysis, groups=(replace(only(analysis), points=(wrong,)),)))
    assert line.startswith("error[COH107]: two answers about ctl contradict each other: the roots at valve.open = 2, ")
    assert "(`coherence analyze d.yaml`)" in line
    assert "(`coherence simulate d.yaml --set tank.level=5.0000005 " in line


def test_a_confirmed_cycle_beside_exact_runs_that_all_rest_is_told() -> None:
    model = model_of(SWINGING)
    analysis, cycles = analysed(model), predicted_within(model, 10)
    (cycle,) = cycles
    assert cycle.confirmed
    resting = replace(only(analysis).answer, verdict="settles", how="from 1 start tried")
    line = told(replace(analysis, groups=(replace(only(analysis), answer=resting),)), cycles)
    assert "exact runs say: settles, from 1 start tried (`coherence simulate d.yaml`)" in line


@pytest.mark.parametrize(
    "change",
    [{"verdict": "none", "reason": "it comes to rest"}, {"period": 100.0}, {"ranges": (("web.desired", 1, 2),)}],
)
def test_another_cycle_than_the_exact_one_of_the_same_start_is_told(change: dict[str, object]) -> None:
    model = model_of(SWINGING)
    (cycle,) = predicted_within(model, 10)
    assert told(analysed(model), (replace(cycle, **change),))  # type: ignore[arg-type]
    assert not told(analysed(model), (cycle,))


def test_a_period_of_several_turns_is_the_same_cycle() -> None:
    one = compared.CycleAnswer(10.0, {"a.x": (0.0, 1.0)})
    assert not compared.cycles_differ(one, compared.CycleAnswer(30.0, {"a.x": (0.0, 1.0)}))
    assert compared.cycles_differ(one, compared.CycleAnswer(25.0, {"a.x": (0.0, 1.0)}))
    assert compared.cycles_differ(one, compared.CycleAnswer(10.0, {"a.x": (0.0, 1.1)}))


@pytest.mark.slow
def test_the_commands_fail_and_show_both_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    design = tmp_path / "d.yaml"
    design.write_text(TANK)
    words = ["--time-limit", "5", "-o", "json"]
    assert run(["analyze", "--no-retune", str(design), *words]) == 0
    assert json.loads(capsys.readouterr().out)["disagreements"] == []
    monkeypatch.setattr(second_opinions, "beside_a_point", always_differing)
    assert run(["analyze", "--no-retune", str(design), *words]) == 1
    (differing,) = json.loads(capsys.readouterr().out)["disagreements"]
    assert differing["first"] == {"text": "one", "command": "coherence a"}
    assert run(["sweep", str(design), "-p", "components.tank.from=4:5:2"]) == 1
    assert "error[COH107]: two answers about ctl contradict each other: one (`coherence a`)" in capsys.readouterr().out


def always_differing(*_: object) -> compared.Disagreement:
    return compared.Disagreement(("ctl",), compared.Statement("one", "coherence a"), compared.Statement("two", "b"))


@pytest.mark.slow
def test_a_point_at_which_the_design_does_not_rest_has_no_verdict_and_no_margins() -> None:
    """The laws rest with the valve at 2, and it opens up to 1 only."""
    (point,) = only(analysed(model_of(TANK.replace("[0, 100], from: 2", "[0, 1], from: 1")))).points
    assert (point.point.outside, point.verdict, point.branches, point.loops) == (("ctl",), "undecided", (), ())
    assert point.why == "the design does not rest here: the command of ctl cannot be"
