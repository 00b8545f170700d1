"""The extra delay that a margin tells, beside what COH301 asks of the design with that delay."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.settling.swings_without_rest import of_loops
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from tests.loops.analysis.tank_designs import tank


def late_tank(leak: str, gain: str, lands: Fraction) -> Model:
    text = tank("delayed(tank.level, 3 s)", gain, lands=lands, leak=leak, start=1)
    return elaborate(read_text(text, "design.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize(("leak", "gain"), [("0.02", "0.6"), ("0.1", "0.5"), ("0.05", "0.4")])
def test_the_delay_margin_is_where_a_run_begins_to_swing(leak: str, gain: str) -> None:
    (margin,) = analysed(late_tank(leak, gain, Fraction(0)), time_limit=60).groups[0].points[0].loops
    assert margin.landing is not None
    assert margin.landing.unstable is not None

    def answer(lands: Fraction) -> tuple[str, str]:
        persistence = of_loops(late_tank(leak, gain, lands), ("valve.open",), bool)
        assert persistence is not None
        return persistence.linear, persistence.verdict

    assert answer(margin.landing.stable * Fraction(9, 10))[0] == "stable"
    assert answer(margin.landing.unstable)[0] == "unstable"
    assert answer(margin.landing.unstable * Fraction(11, 10)) == ("unstable", "swings")
