"""Delay margins beside the roots of the design with that delay in its text, in the landing and in the reading."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.loops.analysis.delay_margins import LONGEST, DelayMargin, delay_margin
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.lap_matrices import closed
from coherence.loops.designs.lap_roots import roots
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate
from tests.draws import few
from tests.loops.analysis.tank_designs import tank

DELAYED, MEAN = "delayed(tank.level, {late} s)", "mean_over(delayed(tank.level, {late} s), 3 s)"


def text(law: str, read: str, gain: str, *, lands: Fraction = Fraction(0), late: Fraction = Fraction(1)) -> str:
    return tank(read.format(late=f"{float(late):.12f}"), gain, law=law, lands=lands)


def growth(words: str) -> float:
    model, _ = skeleton(elaborate(read_text(words, "design.yaml")))
    start = {"tank.level": Fraction(5), "valve.open": Fraction(2)}
    point = operating_point(model, start)
    assert point == start
    lap = opened(model, point)
    return roots(closed(lap), lap.length).growth


def figures(words: str) -> LoopFigures:
    (loop,) = analysed(elaborate(read_text(words, "design.yaml")), time_limit=60).groups[0].points[0].loops
    return loop


@pytest.mark.parametrize(
    ("law", "read", "gain"), [("set", DELAYED, "0.5"), ("step", DELAYED, "0.12"), ("set", MEAN, "0.4")]
)
def test_the_design_with_the_delay_in_its_text_is_stable_below_and_unstable_beyond(
    law: str, read: str, gain: str
) -> None:
    loop = figures(text(law, read, gain))
    landing, reading = loop.landing, loop.reading
    assert landing is not None
    assert reading is not None
    assert landing.unstable is not None
    assert reading.unstable is not None
    assert growth(text(law, read, gain, lands=landing.stable)) < 1
    assert growth(text(law, read, gain, lands=landing.unstable)) > 1
    assert growth(text(law, read, gain, late=1 + reading.stable)) < 1
    assert growth(text(law, read, gain, late=1 + reading.unstable)) > 1


def test_a_loop_that_is_alone_with_its_plant_has_one_delay_margin() -> None:
    loop = figures(text("set", DELAYED, "0.5"))
    assert loop.landing is not None
    assert loop.reading is not None
    assert loop.landing.unstable == loop.reading.unstable


@settings(max_examples=few(100), deadline=None)
@given(st.fractions(Fraction(1, 8), 60), st.fractions(1, 9))
def test_the_first_loss_is_bracketed(edge: Fraction, period: Fraction) -> None:
    margin = delay_margin(lambda delay: delay < edge, period)
    assert margin.stable < edge
    if margin.unstable is None:
        assert margin.stable == LONGEST * period
    else:
        assert margin.stable < edge <= margin.unstable
        assert margin.unstable - margin.stable <= margin.unstable / 10**5


def test_what_cannot_be_lifted_is_a_note() -> None:
    def refused(delay: Fraction) -> bool:
        if delay > 3:
            raise ArithmeticError("a lap has 200 variables")
        return True

    assert delay_margin(refused, Fraction(2)) == DelayMargin(Fraction(3), None, "a lap has 200 variables")
