"""SVG pictures: what of a panel is drawn."""

from __future__ import annotations

import pytest

from coherence.reporting.pictures.figure import Dots, Figure, Panel
from coherence.reporting.pictures.svg import svg


@pytest.mark.parametrize(("circle", "drawn"), [(1.0, 1), (None, 0)])
def test_a_guide_around_zero_is_drawn_where_the_panel_has_one(circle: float | None, drawn: int) -> None:
    dots = (Dots("root", ((0.5, 0.5), (-2.0, 1.0)), "x"),)
    picture = svg(Figure("t", (Panel("a", "x", "y", (), dots, square=True, circle=circle),)))
    assert picture.count("<ellipse") == drawn
