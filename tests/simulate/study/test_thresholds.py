"""Promises on figures: which figure they are, and when its interval keeps or breaks them."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.study.repeated_runs import StudyReading
from coherence.simulate.study.thresholds import FigureLimit, judged_threshold, threshold_of

DESIGN = """\
coherence: 1
workload: {{clients: {{rate: 60 req/s, service: {{mean: 40 ms, cv: 1}}}}}}
components: {{workers: {{copies: 4}}}}
calls: [{{from: clients, to: workers}}]
promises: {{p: "{promise}"}}
"""
KEY = ("clients", "P99", "s")


@pytest.mark.parametrize(
    ("promise", "threshold"),
    [
        ("quantile(clients.latency, 0.99) <= 2 s", FigureLimit(KEY, "<=", 2.0)),
        ("2 s > quantile(clients.latency, 0.99)", FigureLimit(KEY, "<", 2.0)),
        ("tail(clients.latency, 3 s) <= 1 %", FigureLimit(KEY, "<=", 3.0)),
        ("mean(clients.latency) < 1 s", FigureLimit(("clients", "mean", "s"), "<", 1.0)),
        ("clients.success >= 99 %", FigureLimit(("clients", "succeed", "%"), ">=", 99.0)),
        ("always workers.backlog <= 3", None),
    ],
)
def test_a_promise_on_a_figure_is_a_threshold(promise: str, threshold: FigureLimit | None) -> None:
    design = read_text(DESIGN.format(promise=promise), "d.yaml")
    assert threshold_of(design, design.promises["p"]) == threshold


@pytest.mark.parametrize(
    ("low", "high", "kept"), [(1.0, 1.9, True), (1.0, 2.0, True), (1.9, 2.1, None), (2.1, 2.4, False)]
)
def test_the_whole_interval_has_to_keep_it_or_to_break_it(low: float, high: float, kept: bool | None) -> None:
    reading = StudyReading(*KEY, (low + high) / 2, low, high)
    assert judged_threshold(FigureLimit(KEY, "<=", 2.0), {KEY: reading})[0] is kept


def test_a_figure_that_no_run_has_is_said() -> None:
    kept, message, reading = judged_threshold(FigureLimit(KEY, "<=", 2.0), {})
    assert (kept, reading) == (None, None)
    assert "too few of its requests were answered" in message


@pytest.mark.parametrize(("low", "high", "kept"), [(99.5, 100.0, True), (98.0, 99.9, None), (40.0, 60.0, False)])
def test_a_percentile_among_requests_that_fail_is_not_one_of_those_that_succeed(
    low: float, high: float, kept: bool | None
) -> None:
    share = ("clients", "succeed", "%")
    readings = {KEY: StudyReading(*KEY, 0.2, 0.1, 0.3), share: StudyReading(*share, (low + high) / 2, low, high)}
    assert judged_threshold(FigureLimit(KEY, "<=", 2.0), readings)[0] is kept
