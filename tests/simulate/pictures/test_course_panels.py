"""Curves of a run: each is laid beside the numbers of the run that it is of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.reporting.pictures.figure import Figure, Guide, Line
from coherence.reporting.pictures.svg import svg
from coherence.simulate.pictures.course_panels import LAST_MARKS, course_panels
from coherence.simulate.pictures.run_figure import run_figure
from coherence.simulate.study.course import PARTS, CourseCurve, RunCourse, thinned
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from tests.simulate.pictures.picture_runs import HPA, PAUSED, SERVING, integral_of, line_of, panel_of, run_of


def test_rates_add_up_to_the_requests_and_sends_of_the_run(paused: tuple[Study, Figure]) -> None:
    own, figure = paused
    first = own.samples[0]
    came = first["web", "arrive", "/s"] * 120
    assert integral_of(line_of(figure, "requests", "web arrive")) == pytest.approx(came)
    sends = integral_of(line_of(figure, "attempts", "web -> pool"))
    assert sends / came == pytest.approx(first["web -> pool", "sends per call", ""], rel=0.01)
    answered = integral_of(line_of(figure, "requests", "web answered"))
    assert answered == pytest.approx(came * first["web", "succeed", "%"] / 100, abs=60 * 0.5)  # some end later


def test_a_pause_is_seen_where_it_was(paused: tuple[Study, Figure]) -> None:
    _, figure = paused
    sends = line_of(figure, "attempts", "web -> pool").points
    assert max(v for t, v in sends if t < 39) < 75 < max(v for t, v in sends if 40 < t < 44)  # tries again
    success = line_of(figure, "success", "web").points
    assert min(v for t, v in success if t < 39) > 95 > min(v for t, v in success if 41 < t < 46)


def test_promised_shares_are_labelled_lines(paused: tuple[Study, Figure]) -> None:
    assert panel_of(paused[1], "success").guides == (Guide("y", 99.0, "promise share: >= 99 %"),)


def test_the_start_up_that_is_left_out_is_drawn_and_marked() -> None:
    own, design = run_of(PAUSED, warmup=30.0)
    figure = run_figure(["page"], [own], [design])
    line = line_of(figure, "requests", "web arrive")
    assert line.points[0][0] == 0
    counted = [point for point in line.points if point[0] >= 30]
    came = own.samples[0]["web", "arrive", "/s"] * 90
    assert integral_of(Line("", tuple(counted))) == pytest.approx(came)
    assert Guide("x", 30.0, "counted from here") in panel_of(figure, "waiting").guides


def test_writes_of_an_exact_run_are_marked_at_their_values() -> None:
    design = read_text(HPA.read_text(encoding="utf-8"), str(HPA))
    own = study(design, Setting(until=90.0, draws=True))
    figure = run_figure(["hpa"], [own], [design])
    panel = panel_of(figure, "signals")
    marks = [point for dots in panel.dots for point in dots.points]
    assert len(marks) == own.samples[0]["hpa", "writes", ""] > 4
    steps = dict(line_of(figure, "signals", "pool.replicas").points)
    assert all(steps[time] == value for time, value in marks)
    most = max(value for value in steps.values())
    assert most == own.samples[0]["pool.replicas", "most", ""]


@pytest.mark.slow
def test_many_writes_are_enlarged_and_a_long_run_stays_small() -> None:
    design = read_text(HPA.read_text(encoding="utf-8"), str(HPA))
    own = study(design, Setting(until=5400.0, draws=True))
    figure = run_figure(["hpa"], [own], [design])
    assert (
        len([p for dots in panel_of(figure, f"signals: the last {LAST_MARKS} writes").dots for p in dots.points])
        == LAST_MARKS
    )
    assert len(svg(figure)) < 200_000
    values = [value for _, value in line_of(figure, "signals", "pool.replicas").points]
    assert (min(values), max(values)) == tuple(own.samples[0]["pool.replicas", what, ""] for what in ("least", "most"))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9000))
def test_thinning_keeps_ends_and_extremes_of_every_part(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    times, values = np.sort(rng.uniform(0, 100, count)), rng.normal(size=count)
    curve = CourseCurve("a", "signal", "", times, values)
    thin = thinned(curve)
    assert len(thin.times) <= 4 * PARTS
    whole = set(zip(times.tolist(), values.tolist(), strict=True))
    assert set(zip(thin.times.tolist(), thin.values.tolist(), strict=True)) <= whole
    for low, high in ((0, 100), tuple(sorted(rng.uniform(0, 100, 2).tolist()))):
        inside, kept = (values[(times >= low) & (times <= high)], thin.values)
        if len(inside):
            near = kept[(thin.times >= low - 100 / PARTS) & (thin.times <= high + 100 / PARTS)]
            assert (near.max() >= inside.max(), near.min() <= inside.min()) == (True, True)


def test_ten_curves_are_ten_curves_in_panels_of_six() -> None:
    curves = tuple(
        CourseCurve(f"s{k}", "queue", "req", np.array([0.0, 1.0]), np.array([float(k), 0.0])) for k in range(10)
    )
    own = Study(Setting(10.0, seeds=(1,)), ({},), records=(RunRecord({}, course=RunCourse(curves)),))
    notes: list[str] = []
    panels = course_panels(own, (), notes)
    assert list(panels) == ["waiting", "waiting, part 2"]
    assert [line.name for panel in panels.values() for line in panel.lines] == [f"s{k}" for k in range(10)]
    assert [line.style for line in panels["waiting, part 2"].lines] == [0, 1, 2, 3]
    assert notes == []


def test_loops_beside_requests_have_no_curve_of_their_clock() -> None:
    own, design = run_of(SERVING.read_text(encoding="utf-8"), seeds=(1,), until=20.0)
    figure = run_figure(["page"], [own], [design])
    assert [line.name for line in panel_of(figure, "signals").lines] == ["batch.running", "pool.desired"]
