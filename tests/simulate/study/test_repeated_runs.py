"""Readings over independent runs, and loops alone."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.simulate.study.repeated_runs import Study, difference, interval
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

SWINGING = """\
coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: "delayed(web.usage, 15 s)", setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
"""


def test_the_interval_of_a_mean_by_hand() -> None:
    mean, low, high = interval([1.0, 2.0, 3.0])
    half = 4.302652729911275 / math.sqrt(3)  # Student's t, two degrees of freedom, 97.5 %
    assert mean == 2.0
    assert low == pytest.approx(2 - half)
    assert high == pytest.approx(2 + half)


def test_one_run_and_infinite_values_have_no_interval() -> None:
    assert interval([3.0]) == (3.0, None, None)
    assert interval([1.0, math.inf])[1:] == (None, None)


def test_intervals_cover_as_often_as_they_say() -> None:
    draw = random.Random(7)  # noqa: S311  (a seeded test)
    covered = 0
    for _ in range(2000):
        _, low, high = interval([draw.gauss(10, 3) for _ in range(5)])
        assert low is not None
        assert high is not None
        covered += low <= 10 <= high
    assert 0.935 < covered / 2000 < 0.965


def test_a_difference_is_that_of_the_same_seeds() -> None:
    key = ("a", "P99", "s")
    before = Study(Setting(1.0), ({key: 1.0}, {key: 11.0}))
    after = Study(Setting(1.0), ({key: 2.0}, {key: 12.0, ("b", "x", ""): 1.0}))
    (reading,) = difference(before, after)
    assert (reading.key, reading.value, reading.low, reading.high) == (key, 1.0, 1.0, 1.0)


def test_loops_alone_run_exactly_and_say_what_becomes_of_them() -> None:
    found = study(read_text(SWINGING, "design.yaml"), Setting(900.0))
    readings = {(r.of, r.what): r.value for r in found.readings}
    assert readings["web.desired", "most"] == 334
    assert readings["hpa", "writes"] == 41  # four in each of ten cycles of six instants, and one
    assert found.notes == ("repeats every 90 s for ever, from 45 s on, exactly",)
    assert found.setting.seeds == ()


def test_a_warm_up_is_left_out() -> None:
    text = SWINGING.replace("delayed(web.usage, 15 s)", "web.usage")
    whole = {(r.of, r.what): r.value for r in study(read_text(text, "d.yaml"), Setting(900.0)).readings}
    later = {(r.of, r.what): r.value for r in study(read_text(text, "d.yaml"), Setting(900.0, 60.0)).readings}
    assert (whole["hpa", "writes"], later["hpa", "writes"]) == (1, 0)
    assert later["web.desired", "least"] == 200


def test_what_is_open_can_be_given() -> None:
    text = SWINGING.replace("load: 100, ", "").replace("load /", "outside.load /")
    with pytest.raises(InputError, match=r"needs a value of outside\.load"):
        study(read_text(text, "d.yaml"), Setting(60.0))
    found = study(read_text(text, "d.yaml"), Setting(60.0, values={"outside.load": Fraction(100)}))
    assert found.readings


def test_what_a_component_lacks_is_asked_for_where_it_is_read_and_what_it_has_is_named() -> None:
    text = SWINGING.replace("load /", "web.queue /")
    with pytest.raises(InputError) as caught:
        study(read_text(text, "d.yaml"), Setting(60.0))
    (problem,) = caught.value.problems
    assert (problem.message, problem.place.line > 1) == ("needs a value of web.queue", True)
    assert "; web has desired, load," in problem.remedy


def test_nothing_to_run_is_an_error_with_a_remedy() -> None:
    with pytest.raises(InputError, match="nothing here runs"):
        study(
            read_text("coherence: 1\ntimers: {t: {from: x starts, after: 1 s, then: stop x}}\n", "d.yaml"), Setting(1.0)
        )


def test_the_interval_of_a_share_stays_within_nothing_and_all() -> None:
    key = ("web", "failed", "%")
    for samples, low, high in (((0.0, 0.4), 0.0, 2.74), ((0.2, 0.21), 0.14, 0.27), ((99.8, 100.0), 98.6, 100.0)):
        (reading,) = Study(Setting(60.0), tuple({key: value} for value in samples)).readings
        assert reading.low == pytest.approx(low, abs=0.05)
        assert reading.high == pytest.approx(high, abs=0.05)
