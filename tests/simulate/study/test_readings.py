"""What a run shows of requests: those that have not ended are counted, and percentiles are not of the survivors."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.study.readings import OF_WHOM
from coherence.simulate.study.repeated_runs import StudyReading
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

OVERLOADED = """\
coherence: 1
workload: {web: {rate: 15 req/s, service: {mean: 100 ms, cv: 0}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
"""


def shown(text: str) -> dict[str, StudyReading]:
    return {reading.what: reading for reading in study(read_text(text, "d.yaml"), Setting(600.0)).readings}


def test_requests_that_have_not_ended_are_told_and_take_the_high_percentiles_with_them() -> None:
    rows = shown(OVERLOADED)
    assert rows["not ended"].value == pytest.approx(100 / 3, abs=2)  # 10 of 15 a second are served
    assert rows["succeed"].value == pytest.approx(200 / 3, abs=2)
    assert rows["P50"].value == pytest.approx(150, rel=0.1)  # who comes at 300 s ends at 450 s
    for what, true in (("P95", 285), ("P99", 297)):
        assert rows[what].more_than
        assert 180 < rows[what].value < true
    assert rows["P99 of answered"].value == pytest.approx(198, rel=0.1)


def test_what_a_percentile_is_more_than_is_no_less_than_a_lower_percentile() -> None:
    """Few have not ended, and were watched for a short time: 2.13 s for P95 stood above "more than 2.10 s" for P99."""
    text = OVERLOADED.replace("15 req/s", "10.03 req/s").replace("cv: 0", "cv: 1").replace("web", "c")
    found = study(read_text(text, "d.yaml"), Setting(30.0, seeds=(242,))).readings
    values = {reading.what: reading for reading in found if reading.of == "c"}
    assert values["P99"].more_than
    assert values["P99"].value >= values["P95"].value


def test_where_all_end_every_percentile_is_told() -> None:
    rows = shown(OVERLOADED.replace("15 req/s", "5 req/s"))
    assert rows["not ended"].value == 0
    assert rows["succeed"].value == 100
    assert not any(rows[what].more_than for what in ("P50", "P95", "P99"))


def test_who_fails_counts_as_longer_than_every_answer() -> None:
    text = OVERLOADED.replace("15 req/s", "8 req/s").replace("cv: 0", "cv: 1")
    rows = shown(text.replace("to: s}", "to: s, per_try: 1 s, on_timeout: cancel}"))
    assert 95 < rows["succeed"].value < 99
    assert rows["P99"].more_than
    assert rows["P99 of answered"].value < 1 <= rows["P99"].value * 1.01


def test_of_whom_the_figures_are_stands_beside_them() -> None:
    assert OF_WHOM in study(read_text(OVERLOADED, "d.yaml"), Setting(10.0, seeds=(1,))).assumptions


@pytest.mark.parametrize("period", ["7 s", "100 s", "10 min"])
def test_the_mean_of_what_flows_is_that_of_a_straight_line(period: str) -> None:
    """However seldom anything else happens: a rise from 0 to 600 has the mean 300."""
    text = f"""
coherence: 1
components: {{a: {{state: "x' = 1 / 1 s", from: 0}}, b: {{state: "y' = b.y + 1", step: {period}, from: 0}}}}
"""
    means = {(r.of, r.what): r.value for r in study(read_text(text, "d.yaml"), Setting(600.0)).readings}
    assert means["a.x", "mean"] == pytest.approx(300)
    assert means["a.x", "last"] == 600
