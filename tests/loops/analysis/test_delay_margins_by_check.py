"""The delay margins that are told, beside what check finds with a little more and a little less of that delay."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.analysis.delay_margins import DelayMargin
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.checks import oscillation
from coherence.model.elaborate import elaborate

ROOM = """
coherence: 1
components:
  room: {{state: "temp' = (10 - room.temp + 2 * heater.power) / 300 s", from: 15}}
loops:
  ctl:
    timescale: {{period: 60 s, phase: 0 s, lands: {lands} s}}
    trigger: always
    actuation:
      {{signal: heater.power, law: set, to: "5 + 1 * (20 - delayed(room.temp, {late} s))", bounds: [-99, 99], from: 5}}
"""
SPRING = """
coherence: 1
components:
  at: {{state: "x' = speed.x", from: 1}}
  speed: {{state: "x' = (-0.1 * at.x - 0.2 * speed.x + 0.1 * push.u) / 1 s", from: 0}}
loops:
  ctl:
    timescale: {{period: 1 s, phase: 0 s, lands: {lands} s}}
    trigger: always
    actuation: {{signal: push.u, law: set, to: "-0.8 * delayed(at.x, {late} s)", bounds: [-50, 50], from: 0}}
"""
QUEUE = """
coherence: 1
components:
  queue: {{state: "length' = (10 - pool.rate) / 1 s", from: 40}}
loops:
  ctl:
    timescale: {{period: 5 s, phase: 0 s, lands: {lands} s}}
    trigger: always
    actuation:
      {{signal: pool.rate, law: set, to: "10 + 0.06*(delayed(queue.length, {late} s) - 30)", bounds: [0, 50], from: 9}}
"""


def swings(text: str) -> bool:
    subject = Subject(read_text(text, "design.yaml"), {"design.yaml": text}, 60.0)
    return any(finding.verdict is Verdict.CONFLICT for finding in oscillation.ask(subject))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["landing", "reading"])
@pytest.mark.parametrize(("text", "late"), [(ROOM, 60), (SPRING, 1), (QUEUE, 1)])
def test_a_little_more_delay_than_the_margin_swings_and_a_little_less_does_not(
    text: str, late: int, where: str
) -> None:
    design = elaborate(read_text(text.format(lands=0, late=late), "design.yaml"))
    (figures,) = analysed(design, time_limit=60).groups[0].points[0].loops
    margin: DelayMargin | None = getattr(figures, where)
    assert margin is not None
    assert margin.unstable is not None
    for share, expected in ((Fraction(9, 10), False), (Fraction(11, 10), True)):
        delay = round(float(margin.unstable * share), 3)
        late_by = {"lands": delay, "late": late} if where == "landing" else {"lands": 0, "late": late + delay}
        assert swings(text.format(**late_by)) is expected, (where, delay)


SHARED = """
coherence: 1
components: {{pool: {{desired: 0.5 .. 400, load: 20, util: load / desired}}}}
loops:
  hpa:
    target: {{signal: "delayed(pool.util, {late} s)", setpoint: 50 %}}
    timescale: {{period: 15 s, phase: 0 s, lands: {lands} s}}
    actuation: {{signal: pool.desired, count: commanded, from: 20, bounds: [1, 400.5]}}
"""


@pytest.mark.parametrize("lands", [0, 9, 14])
def test_what_is_read_of_a_share_at_once_is_late_too(lands: int) -> None:
    """A reading that follows the command without a memory of its own: the law loses its rest at one whole period."""
    text = SHARED.replace('"delayed(pool.util, {late} s)"', "pool.util")
    design = elaborate(read_text(text.format(lands=lands), "design.yaml"))
    (figures,) = analysed(design, time_limit=60).groups[0].points[0].loops
    assert figures.landing is not None
    assert figures.reading is not None
    assert figures.landing.unstable == pytest.approx(15 - lands, rel=1e-4)
    assert figures.reading.unstable == pytest.approx(15 - lands, rel=1e-4)
    assert not swings(SHARED.format(lands=lands, late=round(14.9 - lands, 1)))
    assert swings(SHARED.format(lands=lands, late=round(15.1 - lands, 1)))
