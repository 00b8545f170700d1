"""Operating points of loops over integrating plants: where the level rests, and nowhere else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.linear import linearise
from coherence.model.elaborate import elaborate

TANK = """\
coherence: 1
components:
  tank: {{state: "level' = (1 - 0.5 * valve.open) / 1 s", from: {start}}}
loops:
  ctl:
    timescale: {{period: {period}, phase: 0 s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "{law}", bounds: [0, 100], from: 2}}
"""


@pytest.mark.parametrize(
    ("law", "start", "period", "point", "factor"),
    [  # at rest valve.open is 2 and the law gives 2; the factor is the largest root, by hand
        ("max(0.1 * delayed(tank.level, 3 s), 2 + 1.1 * (delayed(tank.level, 3 s) - 15))", "1", "2 s", (2, 15), 1.1003),
        ("0.08 * delayed(tank.level, 3 s) * delayed(tank.level, 3 s)", "4.9", "2 s", (2, 5), 0.98844),
    ],
)
def test_the_point_is_where_the_flow_rests(
    law: str, start: str, period: str, point: tuple[float, float], factor: float
) -> None:
    model = elaborate(read_text(TANK.format(law=law, start=start, period=period), "d.yaml"))
    found = linearise(model, {"tank.level": Fraction(start), "valve.open": Fraction(2)})
    assert found is not None
    assert (float(found.point["valve.open"]), float(found.point["tank.level"])) == point
    assert found.verdict.modulus == pytest.approx(factor, abs=1e-4)


def test_a_flow_that_never_rests_has_no_point() -> None:
    text = TANK.format(law="0.1 * delayed(tank.level, 3 s)", start="1", period="2 s")
    model = elaborate(read_text(text.replace("1 - 0.5 * valve.open", "1 + 0 * valve.open"), "d.yaml"))
    assert linearise(model, {"tank.level": Fraction(1), "valve.open": Fraction(2)}) is None
