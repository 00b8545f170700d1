"""Runs at many points are the runs with each of the values alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.door.execute import execute
from tests.door.test_front_door import LAG


def test_a_run_at_each_point_is_the_run_with_its_value() -> None:
    levels: list[float | str | Fraction] = [2, "4.5", 7.25]
    runs = execute(LAG, until="4 min", points={"tank.level": levels})
    table = runs.to_frame()
    assert table["point"].tolist() == [number for number in range(3) for _ in range(5)]
    for number, level in enumerate(levels):
        alone = execute(LAG, until="4 min", values={"tank.level": level}).to_frame()
        at_point = table[table["point"] == number].set_index("time_s")
        for signal in ("pump.flow", "tank.level"):
            assert at_point[signal].tolist() == pytest.approx(alone[signal].tolist(), rel=1e-9)
    assert table["tank.level at 0 s"].unique().tolist() == [2.0, 4.5, 7.25]
    assert runs.to_dict()["points"] == {"tank.level": [2.0, 4.5, 7.25]}
    assert repr(runs).startswith("PointRunsResult: 3 points of tank.level")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"values": {"tank.lvl": 4}}, r"nothing that is open is called 'tank\.lvl': did you mean 'tank\.level'"),
        ({"points": {"tank.lvl": [4]}}, r"nothing that is open is called 'tank\.lvl'"),
        ({"points": {"tank.level": []}}, "there are 0 of tank.level"),
        ({"points": {"tank.level": [1, 2], "pump.flow": [1]}}, "there are 2 of tank.level, 1 of pump.flow"),
        ({"points": {}}, "there are none"),
    ],
)
def test_execute_refuses_values_of_nothing_and_points_without_a_value(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        execute(LAG, until=60, **given)
