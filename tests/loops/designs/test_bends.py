"""Bends of a model as absolute values, and the parts of its network that feed back."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.designs.bends import bent_model, bent_network, feedbacks
from coherence.loops.designs.kinks import written
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate
from coherence.model.model import Model

TEXT = """
coherence: 1
components:
  tank: {{state: "level' = {flow} / 10 s", from: 0}}
  above: {{state: "x' = -0.1 * above.x / 1 s", from: 0}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 1 s, lands: 1 s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "({law}) + 0.1 * above.x", bounds: [-100, 100], from: 0}}
"""
POINT = {"tank.level": Fraction(0), "above.x": Fraction(0), "valve.open": Fraction(0)}


def smooth(law: str, flow: str = "(-valve.open)") -> Model:
    return skeleton(elaborate(read_text(TEXT.format(law=law, flow=flow), "design.yaml")))[0]


@pytest.mark.parametrize(
    ("law", "compared"),
    [
        ("max(tank.level, 2 * tank.level)", ["tank.level - (2 * tank.level)"]),
        ("abs(tank.level)", ["tank.level - (0 - tank.level)"]),
        ("max(tank.level, 1 + tank.level)", []),  # one side holds there
        ("tank.level if tank.level > 0 else 3 * tank.level", ["tank.level - (3 * tank.level)"]),
        ("tank.level if tank.level > 1 else 3 * tank.level", []),
    ],
)
def test_what_meets_at_the_point_is_compared(law: str, compared: list[str]) -> None:
    assert [written(tree) for tree in bent_model(smooth(law), POINT).bends.values()] == compared


def test_a_choice_whose_sides_differ_beside_the_point_is_refused() -> None:
    with pytest.raises(NotExactError, match="jumps beside its operating point"):
        bent_model(smooth("tank.level if tank.level > 0 else 3 * valve.open"), POINT)


def test_parts_are_those_that_feed_back_or_remember() -> None:
    parts = list(feedbacks(bent_network(smooth("max(tank.level, 2 * tank.level)"), POINT)))
    names = [{*(block.name for block in part.blocks), *(s.name for s in part.samplers)} for part in parts]
    assert {"above.x"} in names
    assert {"tank.level", "valve.open", "bend 1 of valve.open"} in names
    assert [len(list(feedbacks(bent_network(smooth("tank.level"), POINT), [path]))) for path in POINT] == [1, 1, 1]


def test_a_bend_of_commands_in_a_flow_is_sampled_where_these_land() -> None:
    """The command lands at even seconds, and what is read 1.5 s late changes at odd ones and a half."""
    network = bent_network(smooth("tank.level", "(-max(valve.open, delayed(valve.open, 1.5 s)))"), POINT)
    clocks = {(s.period, s.phase) for s in network.samplers if s.name in network.landed}
    assert clocks == {(2, 0), (2, Fraction(3, 2))}
    assert len({s.writes or s.name for s in network.samplers if s.name in network.landed}) == 1
