"""Maps of shares: strength follows the share, what is not known stays empty, and nothing leaves the drawing."""

from __future__ import annotations

import random
import re

import pytest

from coherence.reporting.pictures.heat_map import HeatRow, heat_map, matrix_map


def test_neighbours_of_one_strength_are_one_field() -> None:
    text = heat_map("x", [HeatRow("a", (1.0, 1.0, 0.5, None))], 100.0).render()
    fields = dict(re.findall(r'<path d="([^"]+)" class="heat" fill-opacity="([\d.]+)"', text))
    assert set(fields.values()) == {"1", "0.5"}
    whole, half = (next(d for d, strength in fields.items() if strength == mark) for mark in ("1", "0.5"))
    assert whole.count("M") == half.count("M") == 1
    assert float(re.findall(r"h([\d.]+)", whole)[0]) == 2 * float(re.findall(r"h([\d.]+)", half)[0])


def test_a_matrix_writes_its_shares() -> None:
    text = matrix_map("x", ("a", "b"), [HeatRow("a", (None, 0.25)), HeatRow("b", (1.0, None))]).render()
    assert ">25 %<" in text
    assert text.count(">-<") == 2


@pytest.mark.parametrize("seed", range(20))
def test_fields_stay_inside_of_the_drawing(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    rows = [HeatRow(str(k), tuple(draw.choice([None, draw.uniform(-1, 2)]) for _ in range(12))) for k in range(5)]
    drawn = heat_map("x", rows, 10 ** draw.uniform(-3, 7))
    for x, y, wide in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v", drawn.render()):
        assert 0 <= float(x) <= float(x) + float(wide) <= drawn.width
        assert 0 <= float(y) <= drawn.height
