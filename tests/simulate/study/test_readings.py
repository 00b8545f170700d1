"""What a run shows of requests: those that have not ended are counted, and percentiles are not of the survivors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.simulate.study.readings import OF_WHOM, quantile_place
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

OVERLOADED = """\
coherence: 1
workload: {web: {rate: 15 req/s, service: {mean: 100 ms, cv: 0}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
"""


def shown(text: str) -> dict[str, float]:
    return {reading.what: reading.value for reading in study(read_text(text, "d.yaml"), Setting(600.0)).readings}


def test_requests_that_have_not_ended_are_told_and_take_the_high_percentiles_with_them() -> None:
    rows = shown(OVERLOADED)
    assert rows["not ended"] == pytest.approx(100 / 3, abs=2)  # 10 of 15 a second are served
    assert rows["succeed"] == 100
    assert rows["P50"] == pytest.approx(150, rel=0.1)  # who comes at 300 s ends at 450 s
    assert "P95" not in rows
    assert "P99" not in rows


def test_where_all_but_a_few_have_ended_every_percentile_is_told() -> None:
    rows = shown(OVERLOADED.replace("15 req/s", "5 req/s"))
    assert rows["not ended"] < 0.1
    assert {"P50", "P95", "P99"} <= rows.keys()


def test_of_whom_the_figures_are_stands_beside_them() -> None:
    assert OF_WHOM in study(read_text(OVERLOADED, "d.yaml"), Setting(10.0, seeds=(1,))).assumptions


@given(st.sampled_from([50, 95, 99]), st.integers(1, 60), st.integers(0, 60))
def test_a_percentile_is_the_first_that_so_many_do_not_exceed(percent: int, ended: int, waiting: int) -> None:
    place = quantile_place(percent, ended, waiting)
    times = [*range(ended), *[math.inf] * waiting]
    least = next(time for time in times if sum(one <= time for one in times) * 100 >= percent * len(times))
    assert (place if place is not None else math.inf) == least
