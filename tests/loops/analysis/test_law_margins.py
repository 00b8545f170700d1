"""The extra delay that a margin tells, beside what COH301 asks of the design with that delay."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.designs.swings_without_rest import of_loops
from coherence.model.elaborate import elaborate

TANK = """
coherence: 1
components:
  tank: {{state: "level' = (1 - 0.5 * valve.open - {leak} * (tank.level - 5)) / 1 s", from: 1}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s, lands: {lands} s}}
    trigger: always
    actuation:
      signal: valve.open
      law: set
      to: "2 + {gain} * (delayed(tank.level, 3 s) - 5)"
      bounds: [-100, 100.5]
      from: 2
"""


@pytest.mark.slow
@pytest.mark.parametrize(("leak", "gain"), [("0.02", "0.6"), ("0.1", "0.5"), ("0.05", "0.4")])
def test_the_delay_margin_is_where_a_run_begins_to_swing(leak: str, gain: str) -> None:
    model = elaborate(read_text(TANK.format(leak=leak, gain=gain, lands=0), "design.yaml"))
    (margin,) = analysed(model, time_limit=60).groups[0].points[0].loops
    assert margin.landing is not None
    assert margin.landing.unstable is not None

    def answer(lands: Fraction) -> tuple[str, str]:
        late = elaborate(read_text(TANK.format(leak=leak, gain=gain, lands=float(lands)), "design.yaml"))
        persistence = of_loops(late, ("valve.open",), bool)
        assert persistence is not None
        return persistence.linear, persistence.verdict

    assert answer(margin.landing.stable * Fraction(9, 10))[0] == "stable"
    assert answer(margin.landing.unstable)[0] == "unstable"
    assert answer(margin.landing.unstable * Fraction(11, 10)) == ("unstable", "swings")
