"""The extra delay that a margin tells, beside what COH301 asks of the design with that delay."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from coherence.door.analyze import analyze
from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import DesignAnalysis, analysed
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


ALONE = """coherence: 1
components: {{web: {{load: 1.5}}, mirror: {{u: act.u}}}}
loops:
  ctl:
    timescale: {{period: 1 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: act.u, law: {law}, bounds: [-100.5, 100], from: 0}}
"""
LAG = ALONE.replace("components: {{", 'components: {{a: {{state: "x\' = (act.u - a.x) / 5 s", from: 0}}, ')
LEFT = math.exp(-0.2)
RISE = 0.3 * (1 - LEFT)  # of the loop RISE z / ((z - 0.5) (z - LEFT)): its edge is at z = -1
SET, STEP = 'set, to: "{set} + {rest}"', 'step, by: "{step} + {rest}"'


@pytest.mark.parametrize(("law", "name"), [(STEP, "act.u"), (SET, "act.u"), (SET, "mirror.u")])
@pytest.mark.parametrize(
    ("text", "own", "rest", "edge", "at_two"),
    [
        (ALONE, -0.8, "web.load", 1 / 0.8, 0.8 / 2),  # the command's own loop, 0.8 / z
        pytest.param(
            LAG,
            0.5,
            "0.3 * (1 - a.x)",
            1.5 * (1 + LEFT) / RISE,
            RISE * 2 / ((2 - 0.5) * (2 - LEFT)),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_loop_of_a_law_that_carries_its_command_on_does_not_depend_on_its_spelling(
    text: str, own: float, rest: str, edge: float, at_two: float, law: str, name: str
) -> None:
    """The memory of the law is no part of the loop, unless there is no other way back."""
    pytest.importorskip("control")
    spelled = law.format(set=f"{own} * {name}", step=f"{own - 1:.1f} * {name}", rest=rest)
    answer = analyze(text.format(law=spelled), time_limit=60)
    assert isinstance(answer.analysis, DesignAnalysis)
    (figures,) = answer.analysis.groups[0].points[0].loops
    assert figures.gain_high == pytest.approx(edge)
    assert figures.carries == (text == LAG)  # the command's own loop is all of it
    assert complex(answer.linearize("ctl").L(2.0)) == pytest.approx(at_two)


SHARE = """coherence: 1
components: {{pool: {{load: 20, util: load / desired}}}}
loops:
  hpa:
    target: {{signal: {read}, setpoint: 50 %}}
    timescale: {{period: 15 s, phase: 0 s}}
    actuation: {{signal: pool.desired, from: 20, bounds: [1, 400.5]}}
"""


@pytest.mark.parametrize("read", ["pool.util", '"pool.load / pool.desired"'])
def test_what_a_target_measures_is_of_the_plant_however_it_is_written(read: str) -> None:
    """An integrator of gain one, 1 / (z - 1): twice the gain is its edge, and so is a reading of one period ago."""
    (figures,) = analysed(elaborate(read_text(SHARE.format(read=read), "design.yaml"))).groups[0].points[0].loops
    assert figures.gain_high == pytest.approx(2)
    assert figures.carries
    assert figures.reading is not None
    assert figures.reading.unstable == pytest.approx(15, rel=1e-4)
