"""PNG pictures, where matplotlib is installed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from coherence.reporting.pictures.figure import Dots, Figure, Line, Panel, wrapped_notes
from coherence.reporting.pictures.files import write
from coherence.reporting.pictures.png import draw_panel, names_in_a_row, png

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.mark.filterwarnings("ignore")
def test_every_part_of_a_figure_is_drawn(tmp_path: Path) -> None:
    dots = tuple(Dots(kind, ((1.0, 2.0),), kind, k) for k, kind in enumerate("osx^dv-"))
    panel = Panel("a", "x", "y", (Line("l", ((0.5, 1.0), (3.0, 4.0)), steps=True),), dots, levels=(1.0,), circle=1.0,
                  square=True, cells=((0.0, 0.0, 1.0, 1.0, "#eeeeee"),))  # fmt: skip
    file = tmp_path / "a.png"
    write(Figure("t", (panel,), notes=("n",)), str(file))
    assert file.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_ten_names_stand_in_rows_that_fit_the_panel() -> None:
    assert names_in_a_row(["a", "b"], 400) == 4
    assert names_in_a_row(["thermostat_10"] * 10, 400) == 2
    assert names_in_a_row(["x" * 200], 400) == 1


def test_long_names_and_long_numbers_leave_the_axes_as_they_are() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(4.4, 3.7), layout="constrained")
    canvas = FigureCanvasAgg(sheet)
    axes = sheet.add_subplot()
    lines = tuple(Line(f"thermostat of the {k}th zone", ((-0.0319, 0.0), (0.0, float(k))), k) for k in range(10))
    draw_panel(axes, Panel("a", "x", "y", lines))
    canvas.draw()
    assert axes.get_position().width > 0.6
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_visible()]
    inside = [box for box in boxes if axes.bbox.x0 - 1 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1 + 1]
    assert len(inside) >= 3
    assert all(first.x1 < second.x0 for first, second in pairwise(inside))


def test_logarithmic_axes_without_a_point_are_drawn() -> None:
    empty = Panel("nothing above 0", "x", "y", (Line("a", ()), Line("b", ((1.0, 0.0),))), log="xy", levels=(1.0,))
    assert png(Figure("empty", (empty,))).startswith(b"\x89PNG")


def test_notes_and_a_long_title_leave_panels_their_height() -> None:
    def height(*notes: str) -> float:
        file = png(Figure("t", (Panel("p", "x", "y", (Line("a", ((0.0, 0.0), (1.0, 1.0))),)),), 1, notes))
        return float(int.from_bytes(file[20:24], "big"))

    assert height(*(f"note {k}" for k in range(20))) - height("note") >= 19 * 0.15 * 150


def test_long_titles_and_what_axes_show_stay_inside() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet
    from matplotlib.text import Text

    sheet = Sheet(figsize=(4.4, 3.7), layout="constrained")
    canvas = FigureCanvasAgg(sheet)
    axes = sheet.add_subplot()
    long = f"loops.autoscaler_of_{'embedding_generation_' * 4}.target.setpoint (%)"
    draw_panel(axes, Panel(long, long, long, (Line("a", ((0.0, 0.0), (1.0, 1.0))),)))
    canvas.draw()
    whole = sheet.bbox
    (title,) = (text for text in axes.findobj(Text) if text.get_text() == axes.get_title("left"))
    for text in (title, axes.xaxis.label, axes.yaxis.label):
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, text
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, text
    assert {axes.get_xlabel()[-3:], axes.get_ylabel()[-3:]} == {"(%)"}
    assert "".join(wrapped_notes(Figure("t", (Panel("p", long, "y", ()),), 1))) == f"an axis shows {long}"
