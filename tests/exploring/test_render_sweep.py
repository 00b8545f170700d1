"""A sweep as a map of marks, as data and as a picture."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.units import ONE
from coherence.exploring.render_sweep import FILLS, as_json, figure, text
from coherence.exploring.sweeps import Cell
from coherence.exploring.swept_numbers import Axis
from coherence.language.document import Scalar


def axis(key: str, *values: int, unit: str = "", log: bool = False) -> Axis:
    return Axis(key, Scalar.__new__(Scalar), tuple(map(Fraction, values)), unit, ONE, log)


def cell(verdict: str, *values: str, **more: object) -> Cell:
    facts: dict[str, object] = {"period": None, "growth": None, "why": "", "loops": (), **more}
    return Cell(tuple(values), verdict, **facts)  # type: ignore[arg-type]


LINE = [
    cell("settles", "1"),
    cell("oscillates", "2", period=20.0, loops=("a", "b")),
    cell("oscillates", "10", period=90.0, growth=1.25, loops=("a",)),
    cell("undecided", "11", why="the time limit"),
]


def test_one_key_is_a_list_with_what_each_point_does() -> None:
    told = text("d.yaml", [axis("gain", 1, 2, 10, 11)], LINE).splitlines()
    assert told[0] == "d.yaml: 4 points over gain (1 to 11)"
    assert told[2:6] == [
        "   1  o settles",
        "   2  x oscillates, period 20 s",
        "  10  x oscillates, period 90 s, factor 1.25 a lap (linearised)",
        "  11  ? undecided, the time limit",
    ]
    assert told[7] == "o settles 1  x oscillates 2  ? undecided 1"
    assert told[8:] == ["  periods 20 s to 90 s; a and b, a"]


def test_one_period_and_a_reason_of_several_points_are_told_once() -> None:
    cells = [cell("oscillates", "1", period=20.0, loops=("a",)), *[cell("refused", str(n), why="no") for n in (2, 3)]]
    told = text("d", [axis("gain", 1, 2, 3)], cells).splitlines()
    assert told[3:5] == ["  2  - refused, [1]", "  3  - refused, [1]"]
    assert told[-2:] == ["  periods 20 s; a", "  [1] 2 x no"]


def test_what_an_oscillation_assumes_is_told() -> None:
    cells = [cell("settles", "1"), cell("oscillates", "2", growth=2.0, loops=("a",), assumes=("k = 3", "m = 1"))]
    told = text("d", [axis("gain", 1, 2)], cells).splitlines()
    assert told[3] == "  2  x oscillates, factor 2 a lap (linearised), assumes k = 3 and m = 1"
    assert as_json("d", [axis("gain", 1, 2)], cells)["points"][1]["assumes"] == ["k = 3", "m = 1"]


SQUARE = [cell(v, str(x), str(y)) for y, row in ((1, ("settles", "oscillates")), (5, ("undecided", "refused")))
          for x, v in zip((1, 2), row, strict=True)]  # fmt: skip


def test_two_keys_are_a_map_with_the_second_upward() -> None:
    told = text("d", [axis("gain", 1, 2), axis("delay", 1, 5, unit="s")], SQUARE).splitlines()
    assert told[0] == "d: 4 points over gain (1 to 2) and delay (1 to 5 s)"
    assert told[2:6] == ["delay", "  5 | ? -", "  1 | o x", "    +----"]
    assert told[6] == "      1 2  gain"
    down = text("d", [axis("gain", 1, 2), axis("delay", 5, 1)], SQUARE[2:] + SQUARE[:2]).splitlines()
    assert down[3:5] == ["  5 | ? -", "  1 | o x"]


def test_data_has_every_point_and_the_counts() -> None:
    data = as_json("d", [axis("gain", 1, 2), axis("delay", 1, 5, unit="s")], SQUARE)
    assert data["keys"] == [{"key": "gain", "unit": "", "values": ["1", "2"]},
                            {"key": "delay", "unit": "s", "values": ["1", "5"]}]  # fmt: skip
    assert data["counts"] == {"settles": 1, "oscillates": 1, "undecided": 1, "refused": 1}
    assert len(data["points"]) == 4


@pytest.mark.parametrize(("log", "edges"), [(False, [0.5, 1.5, 2.5]), (True, [0.5**0.5, 2**0.5, 8**0.5])])
def test_cells_reach_half_way_to_their_neighbours(log: bool, edges: list[float]) -> None:
    picture = figure("d", [axis("gain", 1, 2, log=log), axis("delay", 1, 5)], SQUARE)
    (panel,) = picture.panels
    assert [c[4] for c in panel.cells] == [FILLS[c.verdict] for c in SQUARE]
    assert [panel.cells[0][0], panel.cells[0][2], panel.cells[1][2]] == pytest.approx(edges)
    assert [panel.cells[0][1], panel.cells[0][3], panel.cells[2][3]] == pytest.approx([-1, 3, 7])
    marked = {dots.name: [list(point) for point in dots.points] for dots in panel.dots}
    assert marked == {"settles": [[1, 1]], "oscillates": [[2, 1]], "undecided": [[1, 5]], "refused": [[2, 5]]}


def test_one_key_is_drawn_as_a_strip_with_periods_and_growth() -> None:
    strip, periods, growth = figure("d", [axis("gain", 1, 2, 10, 11)], LINE).panels
    marked = {dots.name: [list(point) for point in dots.points] for dots in strip.dots}
    assert marked == {"settles": [[1, 0]], "oscillates": [[2, 0], [10, 0]], "undecided": [[11, 0]]}
    assert [cell[4] for cell in strip.cells] == [FILLS[cell.verdict] for cell in LINE]
    assert strip.ticks == "x"  # a verdict has no number
    swings = {dots.name: [list(point) for point in dots.points] for dots in periods.dots}
    assert swings == {"oscillates": [[2, 20], [10, 90]]}  # what settles has no period
    assert [list(point) for point in growth.lines[0].points] == [[10, 1.25]]
    assert len(figure("d", [axis("gain", 1)], LINE[:1]).panels) == 1


def test_what_swings_and_is_not_swept_is_named_in_text_and_picture() -> None:
    axes = [axis("loops.own.period", 1, 2, 3)]
    loops = (("other",), ("own",), tuple("abcdef"))
    cells = [cell("oscillates", str(at), period=20.0, loops=names) for at, names in enumerate(loops, 1)]
    note = "1 point: what swings is other, no value of which is swept"
    assert note in text("d", axes, cells)
    assert note in figure("d", axes, cells).notes
    assert "no value" not in text("d", [axis("gain", 1)], cells[:1])
