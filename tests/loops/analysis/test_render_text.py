"""An analysis of a design as text, JSON and pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis import cycle_comparison, render_json
from coherence.loops.analysis.blame import smallest_swinging, smallest_unstable
from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis, analysed
from coherence.loops.analysis.render_text import joined, mode, text
from coherence.loops.analysis.retry_products import Amplified
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.feedback_groups import Deadline, frozen
from coherence.loops.designs.lap_roots import Roots
from coherence.loops.designs.operating_points import smooth_part
from coherence.loops.designs.predicted_cycles import CycleReading
from coherence.model.elaborate import elaborate
from coherence.model.model import Model

NOTHING = DesignAnalysis((), (("cron", "reads no signal"),), ("sensors are exact",))
SWING = """coherence: 1
components: {{web: {{load: 100, usage: load / desired}}, late: {{usage: 1}}}}
loops:
  hpa:
    timescale: {{period: 15 s}}
    target: {{signal: "{signal}", setpoint: 0.5}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}}
"""


def model(signal: str = "delayed(web.usage, 30 s)") -> Model:
    return elaborate(read_text(SWING.format(signal=signal)))


@pytest.fixture(scope="module")
def swinging() -> DesignAnalysis:
    return analysed(model())


def group_of(analysis: DesignAnalysis) -> GroupAnalysis:
    (group,) = analysis.groups
    return group


def test_names_stand_in_a_sentence_and_are_cut_where_they_are_many() -> None:
    assert joined(["a"]) == "a"
    assert joined(["a", "b"]) == "a and b"
    assert joined(["a", "b", "c"]) == "a, b and c"
    assert joined(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"


def test_a_mode_is_told_by_its_growth_period_and_damping() -> None:
    growing = Roots("unstable", "exact", 2, 1.10651, 20.94, -0.174, (1.1 + 0j,), 2)
    assert mode(growing) == "unstable, factor 1.107 a lap, period 20.94 s, damping -0.17"
    assert mode(Roots("stable", "exact", 0, 0.0, None, 1.0, (), 1)) == (
        "stable, dead-beat: at rest after finitely many laps"
    )


def test_a_design_without_feedback_says_why_its_loops_are_in_none() -> None:
    chain = Amplified(("app", "sdk", "api"), (4, 3), 12, "timeout")
    lines = text("x.yaml", NOTHING, [chain], []).splitlines()
    assert lines[0] == "x.yaml: no groups of loops in feedback"
    assert "  cron: reads no signal" in lines
    assert any("app -> sdk -> api" in line and "12 = 4 x 3" in line for line in lines)
    assert lines[-1] == "  sensors are exact"
    data = render_json.as_json("x.yaml", NOTHING, [chain], [])
    assert data["in_no_feedback"] == [{"loop": "cron", "reason": "reads no signal"}]
    assert data["retries"] == [{"path": ["app", "sdk", "api"], "tries": 12.0, "layers": [4, 3], "cause": "timeout"}]


def test_a_swing_is_told_with_its_grade_and_period(swinging: DesignAnalysis) -> None:
    rendered = text("x.yaml", swinging, [], [()])
    period = group_of(swinging).answer.period
    assert period is not None
    assert "hpa: never settles, period" in rendered
    assert "[proved]" in rendered
    assert "margins of hpa" in rendered
    data = render_json.as_json("x.yaml", swinging, [], [()])
    json.dumps(data, allow_nan=False)
    (group,) = data["groups"]
    assert (group["loops"], group["exact"]["verdict"]) == (["hpa"], "oscillates")
    assert group["exact"]["period_seconds"] == float(period)
    (point,) = group["operating_points"]
    assert point["at"]["web.desired"] == {"value": 200.0, "exact": "200"}
    assert point["margins"][0]["factor_high"] == pytest.approx(0.618034, rel=1e-5)  # 2 sin(pi / 10)


def test_a_prediction_that_repeats_execution_or_decides_nothing_is_left_out(swinging: DesignAnalysis) -> None:
    cycle = CycleReading("hpa", "cycle", 60.0, (("web.desired", 100.0, 400.0),), method="word", confirmed=True)
    lines = list(cycle_comparison.text(swinging, [cycle, cycle]))
    assert lines[:2] == ["", cycle_comparison.HEAD]
    assert lines[2:] == ["  hpa: period 60 s, web.desired 100 to 400 (word; confirmed by execution)"]
    assert list(cycle_comparison.text(swinging, [replace(cycle, verdict="undecided")])) == []
    (line,) = list(cycle_comparison.text(swinging, [replace(cycle, verdict="none")]))[2:]
    assert line == "  hpa: no cycle: it comes to rest from its own start and phase"
    settled = CycleReading("other", "none", reason="it comes to rest")
    assert list(cycle_comparison.text(NOTHING, [settled]))[2:] == ["  other: no cycle: it comes to rest"]


def test_many_names_of_a_reading_are_cut() -> None:
    reading = CycleReading(", ".join("abcdefgh"), "none", reason="it comes to rest")
    assert list(cycle_comparison.text(NOTHING, [reading]))[2] == (
        "  a, b, c, d, e, f and 2 more: no cycle: it comes to rest"
    )


def test_the_one_loop_of_an_unstable_lap_is_to_blame_and_none_of_a_stable_one() -> None:
    start = {"web.desired": Fraction(200)}
    for signal, names in (("delayed(web.usage, 30 s)", ("hpa",)), ("web.usage", None)):
        smooth, _ = smooth_part(model(signal), start)
        subset = smallest_unstable(opened(smooth, start, Deadline(30.0).check), smooth, ["hpa"])
        assert (subset and subset.names) == names


def test_a_loop_that_swings_by_itself_is_the_smallest_set(swinging: DesignAnalysis) -> None:
    group = group_of(swinging).group
    subset = smallest_swinging(group, ["web.desired"], [{"web.desired": Fraction(200)}], Deadline(30.0), laps=40)
    assert subset is not None
    assert (subset.names, subset.minimal, subset.how) == (
        ("hpa",),
        True,
        "exact runs, the others switched off at 1 level",
    )
    assert frozen(group.model, {"web.desired": Fraction(200)}, ["hpa"]).loops == ()
