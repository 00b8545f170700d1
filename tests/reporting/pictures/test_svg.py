"""SVG pictures: what of a panel is drawn."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from coherence.reporting.pictures.figure import (
    HEIGHT,
    SHADED,
    WIDTH,
    CurveBand,
    Discs,
    Dots,
    Figure,
    Line,
    Panel,
    layout,
    look,
    wrapped_notes,
)
from coherence.reporting.pictures.svg import legend_rows, svg


@pytest.mark.parametrize(("circle", "drawn"), [(1.0, 1), (None, 0)])
def test_a_guide_around_zero_is_drawn_where_the_panel_has_one(circle: float | None, drawn: int) -> None:
    dots = (Dots("root", ((0.5, 0.5), (-2.0, 1.0)), "x"),)
    picture = svg(Figure("t", (Panel("a", "x", "y", (), dots, square=True, circle=circle),)))
    assert picture.count("<ellipse") == drawn


def test_ten_names_stand_in_rows_that_end_inside_and_styles_differ() -> None:
    lines = tuple(Line(f"a loop of number {k}", ((0.0, 0.0), (1.0, float(k))), k) for k in range(10))
    rows = legend_rows(Panel("t", "x", "y", lines), WIDTH)
    assert sum(map(len, rows)) == 10
    assert all(left + 27 + 6.2 * len(name) <= WIDTH for row in rows for left, (name, _, _) in row)
    assert len({look(style) for style in range(36)}) == 36


def test_bands_discs_and_the_shaded_side_are_drawn() -> None:
    band, discs = CurveBand(((0.0, 1.0, 2.0), (1.0, 2.0, 3.0))), Discs(((0.0, 0.0, 0.5),))
    right = Panel("t", "x", "y", (Line("a", ((-1.0, 0.0), (1.0, 1.0))),), bands=(band,), shade="right")
    plane = Panel("t", "x", "y", (), (Dots("a", ((0.0, 0.5),)),), square=True, circle=1.0)
    outside = replace(plane, discs=(discs,), shade="outside")
    picture = svg(Figure("t", (right, outside)))
    assert picture.count("<polygon") == 1
    assert picture.count(SHADED) == 2
    assert picture.count('fill-opacity="0.25"') == 2


def test_long_notes_are_broken_into_lines() -> None:
    figure = Figure("t", (Panel("p", "x", "y"),), notes=("a word " * 40,))
    assert len(wrapped_notes(figure)) > 3
    assert max(map(len, wrapped_notes(figure))) <= WIDTH / 6


def test_a_short_logarithmic_axis_has_numbers() -> None:
    line = Line("", ((2.05, 1.0), (2.45, 2.0)))
    picture = svg(Figure("t", (Panel("a", "x", "y", (line,), log="x"),)))
    assert all(f">{tick}</text>" in picture for tick in ("2.1", "2.2", "2.3", "2.4"))


def test_a_large_panel_is_as_wide_as_all_columns_also_alone() -> None:
    alone = layout(Figure("one", (Panel("large", "x", "y", large=True),), 2))
    assert alone == (2, [(0, 0, 2 * WIDTH, HEIGHT * 3 // 2)])
    assert layout(Figure("one", (Panel("small", "x", "y"),), 2)) == (1, [(0, 0, WIDTH, HEIGHT)])


def test_what_a_long_axis_shows_keeps_its_unit_and_stands_whole_below() -> None:
    long = f"loops.autoscaler_of_{'embedding_generation_' * 4}.target.setpoint (%)"
    picture = svg(Figure("t", (Panel("a", long, long, (Line("a", ((0.0, 0.0), (1.0, 1.0))),)),), 1))
    shown = re.findall(r">([^<]*setpoint \(%\))</text>", picture)
    assert [text for text in shown if len(text) > 50] == []
    assert len(shown) >= 2
    assert "an axis shows" in picture
