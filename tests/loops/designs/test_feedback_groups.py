"""Groups, operating points, kinks, exact laps and their margins, against closed forms."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.analysis import design_analysis
from coherence.loops.analysis.design_analysis import GroupAnalysis, analysed
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.feedback_groups import Deadline, OutOfTimeError, frozen, region, structure
from coherence.loops.designs.group_runs import executed
from coherence.loops.designs.kinks import branches, stopped
from coherence.loops.designs.lap_matrices import LapError, closed
from coherence.loops.designs.lap_roots import roots, sensitivity
from coherence.loops.designs.operating_points import smooth_part
from coherence.model.elaborate import elaborate
from coherence.model.model import Model

# an integrator of gain k/400 in usage around 200: usage = 100 / desired, slope -1/400 at 200
STEP = """
coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  scaler:
    timescale: {{period: 15 s{more}}}
    target: {{signal: "web.usage", setpoint: 0.5}}
    actuation: {{signal: web.desired, law: step, by: "{gain} * (delayed(web.usage, {delay} s) - 0.5)",
                bounds: [1, 1000], from: 200}}
"""
SCALER = """
coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: 15 s{more}}}
    target: {{signal: "delayed(web.usage, {delay} s)", setpoint: 0.5, tolerance: 10 %}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}}
"""
LONG = Deadline(3600.0)


def model(text: str) -> Model:
    return elaborate(read_text(text))


def only(text: str, *, time_limit: float = 20.0) -> GroupAnalysis:
    found = analysed(model(text), time_limit=time_limit)
    assert len(found.groups) == 1
    return found.groups[0]


def figures(text: str) -> LoopFigures:
    return only(text).points[0].loops[0]


def critical(d: int) -> float:
    """Of the discrete integrator with d steps of delay."""
    return 2 * math.sin(math.pi / (2 * (2 * d + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("d", [0, 1, 2, 3, 5])
def test_the_gain_margin_of_an_integrator_with_delay(d: int) -> None:
    found = figures(STEP.format(gain=40, delay=15 * d, more=""))
    assert found.gain_high == pytest.approx(critical(d) / 0.1, rel=1e-9)
    assert found.certified


def test_below_its_gain_margin_it_is_stable_and_above_it_is_not() -> None:
    for gain, verdict in ((399, "stable"), (400, "marginal"), (401, "unstable")):
        assert only(STEP.format(gain=gain, delay=15, more="")).points[0].verdict == verdict


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(30, 90))
def test_the_delay_margin_is_where_the_closed_form_puts_it(gain: int) -> None:
    found = figures(STEP.format(gain=gain, delay=15, more=""))
    late = next(d for d in range(1, 200) if critical(d) < gain / 400)
    # a command that lands at the instant of a sample is seen by it: what lands later is a step of delay more
    assert found.landing is not None
    assert found.landing.unstable is not None
    assert found.landing.stable <= 15 * late - 15 < found.landing.unstable
    assert found.landing.unstable - found.landing.stable < 0.01


def test_landings_on_their_way_are_kept_apart() -> None:
    """Three landings at once: x[k+1] = x[k] - g x[k-3] has its closed-form edge."""
    found = figures(STEP.format(gain=40, delay=15, more=", lands: 45 s"))
    assert found.gain_high == pytest.approx(critical(3) / 0.1, rel=1e-9)


def test_the_sensitivity_of_an_integrator_is_that_of_its_transfer_function() -> None:
    smooth = model(STEP.format(gain=40, delay=15, more=""))
    group = structure(smooth).groups[0]
    start = {"web.desired": Fraction(200)}
    laws, _ = smooth_part(group.model, start)
    lap = opened(laws, start, LONG.check)
    curve = sensitivity(closed(lap, region(laws, ["scaler"]), left_open=["scaler"]), lap, "scaler")
    assert curve is not None
    z = np.exp(1j * np.array(curve.frequencies) * 15)
    exact = np.abs(1 / (1 + 0.1 / (z * (z - 1) + 1e-300)))
    assert np.allclose(curve.gains[1:], exact[1:], rtol=1e-9)
    assert curve.peak == pytest.approx(np.abs(exact[1:]).max(), rel=1e-3)


@pytest.mark.parametrize(("delay", "verdict", "period"), [(0, "stable", None), (15, "marginal", 90.0)])
def test_the_autoscaler_law_is_dead_beat_and_then_marginal_with_period_six(
    delay: int, verdict: str, period: float | None
) -> None:
    point = only(SCALER.format(delay=delay, more="")).points[0]
    assert point.point.values == {"web.desired": 200}
    assert point.verdict == verdict
    assert point.branches[0][1].period == (None if period is None else pytest.approx(period, rel=1e-9))


def test_two_periods_of_delay_grow_by_1_151_with_period_8_93() -> None:
    mode = only(SCALER.format(delay=30, more="")).points[0].branches[0][1]
    assert (mode.verdict, mode.unstable) == ("unstable", 2)
    assert mode.growth == pytest.approx(1.151, abs=5e-4)
    assert mode.period == pytest.approx(8.93 * 15, abs=0.1)
    assert mode.damping < 0


def test_inside_its_tolerance_the_loop_rests_whatever_the_linear_verdict() -> None:
    point = only(SCALER.format(delay=30, more="")).points[0]
    assert point.inside is not None
    assert (point.inside.verdict, point.inside.size) == ("stable", 0)


@pytest.mark.slow
def test_a_kink_has_a_verdict_for_each_branch_and_is_never_stable_as_a_whole() -> None:
    text = SCALER.replace("usage: load / desired", 'ready: "min(desired, delayed(desired, 60 s))", usage: load / ready')
    point = only(text.format(delay=0, more="")).points[0]
    assert len(point.branches) == 2
    assert {found.verdict for _, found in point.branches} == {"stable", "unstable"}
    assert point.verdict == "undecided"
    assert all("min(web.desired, delayed(web.desired, 60 s)) = " in name for name, _ in point.branches)


def test_a_queue_pressed_against_its_empty_end_has_no_mode_of_its_own() -> None:
    text = """
coherence: 1
workload: {web: {rate: 70 req/s}}
components: {q: {uses: queue, arrivals: web.attempts, served_by: pool, takes: {a: 100 ms}},
             pool: {rate_per_replica: 10 req/s, ready: desired, capacity: ready * rate_per_replica}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: q.busy, setpoint: 0.7, tolerance: 10 %}
    actuation: {signal: pool.desired, law: proportional, bounds: [1, 100], from: 12}
"""
    group = only(text)
    state = next(iter(group.group.model.states))
    assert group.points
    point = dict(group.points[0].point.values)
    assert point["pool.desired"] == 10
    assert stopped(group.group.model, point) == {state}
    assert branches(group.group.model, point).jumps == ()


def test_no_operating_point_is_said_and_the_point_outside_its_bounds_told() -> None:
    text = SCALER.replace("usage: load / desired", "usage: 0.6 + load / desired").format(delay=0, more="")
    group = only(text)
    assert not any(point.point.real for point in group.points)
    assert any("outside its bounds" in note for note in group.notes)
    assert group.verdict == "settles"


def test_a_loop_without_effect_on_its_target_is_in_no_group() -> None:
    text = SCALER.replace("usage: load / desired", "usage: load / 100").format(delay=0, more="")
    analysis = analysed(model(text))
    assert analysis.groups == ()
    assert analysis.alone[0][0] == "hpa"
    assert "no effect" in analysis.alone[0][1]


def test_a_loop_that_reads_what_no_law_says_is_told_which_law_is_missing() -> None:
    text = SCALER.replace(", usage: load / desired", "").format(delay=0, more="")
    ((loop, why),) = analysed(model(text)).alone
    assert (loop, why.partition(";")[0]) == ("hpa", "no law says what web.usage is")


def test_a_delay_of_days_is_answered_within_the_limit() -> None:
    """Without a limit it takes ten times as long.  Its gain is far above the critical one of such a delay."""
    begun = time.process_time()
    found = only(SCALER.format(delay=172_800, more=""), time_limit=0.5)
    assert time.process_time() - begun < 2
    assert found.verdict not in ("settles", "stable")
    assert all(point.verdict != "stable" for point in found.points)


def test_groups_are_the_strongly_connected_parts() -> None:
    text = """
coherence: 1
components: {a: {usage: 100 / x}, b: {usage: 100 / y}, c: {usage: 100 / z + a.x / 1000}}
loops:
  one: {timescale: {period: 10 s}, target: {signal: b.usage, setpoint: 0.5},
        actuation: {signal: a.x, law: proportional, bounds: [1, 1000], from: 100}}
  two: {timescale: {period: 10 s}, target: {signal: a.usage, setpoint: 0.5},
        actuation: {signal: b.y, law: proportional, bounds: [1, 1000], from: 100}}
  three: {timescale: {period: 10 s}, target: {signal: c.usage, setpoint: 0.5},
          actuation: {signal: c.z, law: proportional, bounds: [1, 1000], from: 100}}
"""
    parts_of_design = structure(model(text))
    assert [group.names for group in parts_of_design.groups] == [("one", "two"), ("three",)]
    lap = opened(
        smooth_part(model(text), {})[0], {"a.x": Fraction(200), "b.y": Fraction(200), "c.z": Fraction(250)}, LONG.check
    )
    whole = roots(closed(lap), lap.length)
    parts = [roots(closed(lap, region(model(text), group.names)), lap.length) for group in parts_of_design.groups]
    assert whole.growth == pytest.approx(max(part.growth for part in parts))


def test_a_loop_switched_off_leaves_its_command_where_it_is() -> None:
    still = frozen(model(SCALER.format(delay=30, more="")), {"web.desired": Fraction(150)}, ["hpa"])
    assert still.loops == ()
    assert still.constants["web.desired"].range.low == 150


def test_time_that_is_over_is_undecided_not_stable() -> None:
    found = executed(model(SCALER.format(delay=0, more="")), ("web.desired",), Deadline(0.0))
    assert (found.verdict, found.how) == ("undecided", "the time limit was reached")
    with pytest.raises(OutOfTimeError):
        opened(model(SCALER.format(delay=0, more="")), {"web.desired": Fraction(200)}, Deadline(0.0).check)


def test_a_lap_that_remembers_too_much_is_refused() -> None:
    laws, _ = smooth_part(model(SCALER.format(delay=15_000, more="")), {"web.desired": Fraction(200)})
    lap = opened(laws, {"web.desired": Fraction(200)}, LONG.check)
    with pytest.raises(LapError, match="more than"):
        closed(lap)


def test_a_loop_without_a_signal_is_switched_off_as_well() -> None:
    more = "  guard: {timescale: {period: 60 s}, trigger: web.usage > 1, actuation: {law: ignore}}\n"
    both = model(SCALER.format(delay=30, more="").rstrip("\n") + "\n" + more)
    assert [(loop.name, loop.signal) for loop in both.loops] == [("hpa", "web.desired"), ("guard", "")]
    assert [loop.name for loop in frozen(both, {}, ["guard"]).loops] == ["hpa"]


def test_a_group_without_a_common_lap_is_undecided_and_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Model) -> Fraction:
        raise NotExactError("a period that is not exact")

    monkeypatch.setattr(design_analysis, "hyperperiod", refused)
    group = only(SCALER.format(delay=30, more=""))
    assert (group.verdict, group.lap, group.points) == ("undecided", Fraction(0), ())
    assert "a period that is not exact" in group.answer.how
