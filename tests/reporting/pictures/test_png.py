"""PNG pictures, where matplotlib is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.reporting.pictures.figure import Dots, Figure, Line, Panel
from coherence.reporting.pictures.files import write

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.mark.filterwarnings("ignore")
def test_every_part_of_a_figure_is_drawn(tmp_path: Path) -> None:
    dots = tuple(Dots(kind, ((1.0, 2.0),), kind, k) for k, kind in enumerate("osx^dv-"))
    panel = Panel("a", "x", "y", (Line("l", ((0.5, 1.0), (3.0, 4.0)), steps=True),), dots, levels=(1.0,), circle=1.0,
                  square=True, cells=((0.0, 0.0, 1.0, 1.0, "#eeeeee"),))  # fmt: skip
    file = tmp_path / "a.png"
    write(Figure("t", (panel,), notes=("n",)), str(file))
    assert file.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
