"""Loops that switch without a period over a tank: exact runs, and a relay that would switch back at once."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.crossings import at_crossings
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute import exact
from coherence.simulate.execute.motion import SlidingError

TANK = """
coherence: 1
components:
  tank: {{state: "level' = (1 - 3 * (1 if pump else 0)) / 1 s", from: 0}}
loops:
  pump:
    trigger: {{enter: "{enter}", leave: "{leave}"}}
    actuation: {{signal: pump.on, law: set, to: 1, bounds: [0, 1], from: 0}}
"""


def model_of(text: str) -> Model:
    return elaborate(read_text(text, "design.yaml"))


def test_a_pump_over_a_tank_runs_exactly() -> None:
    made = at_crossings(model_of(TANK.format(enter="tank.level >= 10", leave="tank.level <= 4")))
    instants = exact.execute(made, until=Fraction(40))
    switched = [(instant.time, *instant.switched) for instant in instants if instant.switched]
    expected = [(Fraction(at), ("pump", on)) for at, on in [(10, True), (13, False), (19, True), (22, False)]]
    assert switched[:4] == expected


def test_a_switch_that_leaves_where_it_enters_is_refused() -> None:
    made = at_crossings(model_of(TANK.format(enter="tank.level > 2", leave="tank.level <= 2")))
    with pytest.raises(SlidingError, match="switch back at once"):
        exact.execute(made, until=Fraction(10))
