"""Lanes of what happened: a bar is as long as its span, moments are marks, and both stay inside."""

from __future__ import annotations

import random
import re

import pytest

from coherence.reporting.pictures.lanes import LEFT, RIGHT, WIDTH, Lane, lanes_drawing


def test_a_bar_is_as_long_as_its_span() -> None:
    text = lanes_drawing("x", [Lane("a", ((20.0, 70.0),), (), "bad"), Lane("b", (), (50.0, 50.0))], 100.0).render()
    (bar,) = re.findall(r'<path d="M([\d.]+) [\d.]+h([\d.]+)v[^"]*" class="fill bad"', text)
    assert float(bar[1]) == (WIDTH - LEFT - RIGHT) / 2
    (marks,) = re.findall(r'<path d="([^"]+)" class="span"', text)
    assert marks.count("M") == 1  # two acts of one moment are one mark


@pytest.mark.parametrize("seed", range(20))
def test_nothing_leaves_the_drawing(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    ends = [sorted(draw.uniform(-10, 200) for _ in range(2)) for _ in range(6)]
    text = lanes_drawing("x", [Lane("a", tuple((a, b) for a, b in ends), (draw.uniform(-10, 200),))], 100.0).render()
    for x, wide in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", text):
        assert LEFT <= float(x) <= float(x) + float(wide) <= WIDTH + 1.5
