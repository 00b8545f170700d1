"""Histograms: bars and lines are laid beside the percentiles and shares of the run."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.reporting.pictures.figure import Figure
from coherence.simulate.pictures.run_figure import run_figure
from coherence.simulate.pictures.time_histograms import BARS, WIDEST, binned
from coherence.simulate.study.latencies import Latencies
from coherence.simulate.study.repeated_runs import Study
from tests.simulate.pictures.picture_runs import PAUSED, panel_of, run_of


def test_bars_add_up_to_those_that_are_answered_and_lines_stand_where_the_table_says(
    paused: tuple[Study, Figure],
) -> None:
    own, figure = paused
    panel = panel_of(figure, "answers of web")
    readings = {(r.of, r.what): r.value for r in own.readings}
    assert sum(y for _, y in panel.lines[0].points) == pytest.approx(readings["web", "succeed"], rel=0.01)
    lines = {guide.text.partition(":")[0]: guide.at for guide in panel.guides}
    assert lines["P50"] == pytest.approx(readings["web", "P50"] * 1000)
    assert lines["promise tail"] == pytest.approx(300)
    below = sum(y for x, y in panel.lines[0].points if x < lines["P50"])
    assert 35 < below < 65  # the bars are wide
    assert len(panel.lines[0].points) <= BARS + 2


def test_answers_of_no_time_stand_in_the_first_bar() -> None:
    latencies = Latencies(np.array([0.0, 10.0]))
    ends = np.concatenate((np.full(50, 1.0), np.full(950, 1.1)))
    latencies.add(np.full(1000, 1.0), ends, np.ones(1000, dtype=bool))
    edges, numbers = binned([latencies])
    assert numbers.sum() == 1000
    assert numbers[0] >= 50
    assert edges[0] > 0.1 / (2 * WIDEST)


def test_two_designs_have_one_unit_of_time_for_an_answer() -> None:
    quick, design = run_of(PAUSED)
    slow, second = run_of(PAUSED.replace("mean: 40 ms", "mean: 4 s").replace("45 req/s", "0.5 req/s")
                          .replace("tries: 3, per_try: 250 ms, on_timeout: cancel, retry_when: [timeout]", "tries: 1")
                          .replace(", deadline: 2 s", ""))  # fmt: skip
    alone = run_figure(["slow"], [slow], [second])
    assert panel_of(alone, "answers of web").x.startswith("time (s")
    both = run_figure(["quick", "slow"], [quick, slow], [design, second])
    axes = {panel.title: panel.x for panel in both.panels if panel.title.endswith("answers of web")}
    assert len(axes) == 2
    assert all(axis.startswith("time (ms") for axis in axes.values())
