"""Pictures of regions: a box for each cell, whole numbers in the middle of theirs, and the design's own setting."""

from __future__ import annotations

from fractions import Fraction

from coherence.exploring.half_space_search import HalfSpaceResult
from coherence.exploring.half_spaces import Form, Row
from coherence.exploring.region_figure import FILLS, _crossings, region_figure
from coherence.exploring.regions import Region, RegionCell
from coherence.exploring.render_half_spaces import Beside
from coherence.exploring.swept_numbers import axes

TEXT = "coherence: 1\ncalls: [{from: a, to: b, per_try: 2 s, tries: 3}]\n"
PARAMETERS = ("calls.0.per_try=1 s:5 s", "calls.0.tries=1:5")
F = Fraction


def _region() -> Region:
    first = (F(1), F(3))
    cells = [RegionCell((first, (F(1), F(5))), "safe"), RegionCell(((F(3), F(5)), (F(1), F(5))), "unsafe")]
    return Region(axes(PARAMETERS, {"d.yaml": TEXT}), tuple(cells), ("COH1 of a",), (), 2)


def test_each_cell_is_a_box_in_the_units_of_its_keys() -> None:
    figure = region_figure("a shop", _region())
    assert figure.title == "Safe settings of a shop"
    (panel,) = figure.panels
    assert panel.cells == ((1.0, 0.5, 3.0, 5.5, FILLS["safe"]), (3.0, 0.5, 5.0, 5.5, FILLS["unsafe"]))
    marks = {dots.name: dots.points for dots in panel.dots}
    assert marks == {"safe": ((2.0, 3.0),), "unsafe": ((4.0, 3.0),), "the design's own setting": ((2.0, 3.0),)}
    assert "in conflict whatever the values: COH1 of a" in figure.notes


def test_one_number_is_a_strip() -> None:
    one = axes(PARAMETERS[:1], {"d.yaml": TEXT})
    figure = region_figure("x", Region(one, (RegionCell(((F(1), F(5)),), "undecided"),), (), (), 1))
    assert figure.panels[0].ticks == "x"
    assert figure.panels[0].cells[0][:4] == (1.0, 0.0, 5.0, 1.0)


def test_the_border_of_an_inequality_is_drawn_where_it_crosses_the_picture() -> None:
    row = Row(Form((F(1), F(1)), F(-5)), "<=")  # per_try + tries <= 5
    region = _region()
    assert sorted(_crossings(row, region.axes)) == [(1.0, 4.0), (4.0, 1.0)]
    far = Row(Form((F(1), F(1)), F(-50)), "<=")
    assert not _crossings(far, region.axes)
    drawn = region_figure("x", region, [Beside((), region.axes, HalfSpaceResult((), "none"))])
    assert not drawn.panels[0].lines
