"""Branches that alternate: proved stable in any order, or not at all."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.alternating_branches import is_stable_alternating
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate

TEXT = """
coherence: 1
components:
  tank: {{state: "level' = {flow} / 10 s", from: 0}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "{law}", bounds: [-100, 100], from: 0}}
"""


def proved(law: str, flow: str = "(-valve.open)") -> bool:
    model, _ = skeleton(elaborate(read_text(TEXT.format(law=law, flow=flow), "design.yaml")))
    point = {"tank.level": Fraction(0), "valve.open": Fraction(0)}
    sides = branches(model, point)
    return is_stable_alternating(model, sides, point)


@pytest.mark.parametrize(
    ("law", "stable"),
    [
        ("max(1 * tank.level, 3 * tank.level)", True),  # 0.8 and 0.4 a lap: numbers between 0 and 1
        ("max(1 * tank.level, 11 * tank.level)", False),  # 0.8 and -1.2 a lap
        ("max(1 * tank.level, 0 * tank.level)", False),  # 0.8, and 1 where it lets go
        ("max(1 * delayed(tank.level, 2 s), 2 * delayed(tank.level, 2 s))", True),  # real and complex pairs
        (
            "max(1 * delayed(tank.level, 4 s), 1 * tank.level)",
            False,
        ),  # not looked at: laps of unlike pasts
        ("delayed(max(1 * tank.level, 3 * tank.level), 2 s)", False),  # not looked at: sides of two times
    ],
)
def test_each_order_of_branches_decays_or_nothing_is_proved(law: str, stable: bool) -> None:
    assert proved(law) is stable


def test_two_stable_laps_that_are_unstable_in_turn_are_not_proved() -> None:
    """Each branch leaves a complex pair inside the circle, yet taking the one that grows in each turn does not rest."""
    assert not proved("max(0.5 * delayed(tank.level, 6 s), 2.2 * delayed(tank.level, 6 s))")


def test_a_kink_in_a_flow_may_alternate_within_a_lap() -> None:
    assert not proved("1 * tank.level", "(-max(valve.open, 2 * valve.open))")
