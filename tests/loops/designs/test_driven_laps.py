"""Answers of a lap to a driven signal, beside a recursion by hand and an execution in fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.checks._responses import driven
from coherence.loops.designs.driven_laps import DrivenLap, driven_lap
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Choices, Execution

TANK = """
coherence: 1
workload: {{web: {{rate: 2 req/s}}}}
components:
  tank: {{state: "level' = (delayed(web.rate, {late} s) / 1 req/s - delayed(valve.open, {old} s)) / 10 s", from: 5}}
loops:
  ctl:
    timescale: {{period: 10 s, phase: 0 s, lands: {lands} s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "2 + 0.1 * (tank.level - 5)", bounds: [-100, 100], from: 2}}
"""
SIZES = [Fraction(n, 4) for n in (1, 3, -2, 0, 5, -1, 2, 2, -4, 1, 0, 3, -2, 1, 4, -3, 2, 0, 1, -1)]


def answers(lap: DrivenLap, path: str) -> list[Fraction]:
    """Returns the decisions of a signal when the driven one takes each of SIZES for a lap."""
    state = dict.fromkeys(lap.end, Fraction(0))
    out = []
    for size in SIZES:
        seen = {**state, lap.driver: size}
        out.append(sum((weight * seen[name] for name, weight in lap.decisions[path].items()), Fraction(0)))
        state = {
            name: sum((weight * seen[other] for other, weight in row.items()), Fraction(0))
            for name, row in lap.end.items()
        }
    return out


@pytest.mark.parametrize("late", [0, 10, 15])
@pytest.mark.parametrize(("old", "lands"), [(0, 0), (35, 0), (12, 10), (35, 3)])
def test_decisions_are_those_of_an_execution_whose_input_moves(late: int, old: int, lands: int) -> None:
    """The design is linear, so that deviations of an exact run obey the lap, one lap late."""
    model, _ = skeleton(elaborate(read_text(TANK.format(late=late, old=old, lands=lands), "design.yaml")))
    moved = driven(model, "web.rate")
    point = operating_point(moved, {"tank.level": Fraction(5), "valve.open": Fraction(2), "web.rate": Fraction(2)})
    assert point is not None
    lap = driven_lap(moved, point, "web.rate")
    assert lap.length == 10
    steps = tuple((Fraction(10 * (k + 1)), "web.rate", 2 + size) for k, size in enumerate(SIZES))
    run = Execution(model, Choices(schedule=steps))
    decided: list[Fraction] = []
    while len(decided) < len(SIZES):
        instant = run.advance()
        if instant.time % 10 == 0:
            decided.append(plain(run.commanded["valve.open"]) - 2)
    assert answers(lap, "valve.open") == decided
    assert any(decided)
