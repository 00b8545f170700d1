"""Pictures of runs: what stands in them, beside each other, and where they are written."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.dom import minidom

import pytest

from coherence.cli._run import run as command
from coherence.reporting.pictures.figure import Figure
from coherence.reporting.pictures.svg import svg
from coherence.simulate.pictures.run_figure import run_figure
from coherence.simulate.study.repeated_runs import Study
from tests.simulate.pictures.picture_runs import PAUSED, run_of


def test_no_path_is_in_the_picture_and_axes_have_units(paused: tuple[Study, Figure]) -> None:
    text = svg(paused[1])
    assert "secret" not in text
    assert minidom.parseString(text).documentElement is not None  # noqa: S318  (our own text)
    assert all("(" in panel.x for panel in paused[1].panels)
    assert "prefers-color-scheme: dark" in text


def test_two_designs_stand_beside_each_other_on_the_same_axes() -> None:
    pauses = (("pool", 40.0, 3.0),)
    own, design = run_of(PAUSED, pauses=pauses)
    other, second = run_of(PAUSED.replace("tries: 3, ", ""), pauses=pauses)
    figure = run_figure(["page", "page"], [own, other], [design, second])
    pairs = list(zip(figure.panels[::2], figure.panels[1::2], strict=True))
    for left, right in pairs:
        assert (left.title[:10], right.title[:10]) == ("page (1): ", "page (2): ")
        assert (left.low, left.high, left.texts) == (right.low, right.high, right.texts)
        top = max(y for panel in (left, right) for line in panel.lines for _, y in line.points if not math.isnan(y))
        assert (left.high or 0) >= top


@pytest.mark.slow
def test_pictures_overwrite_nothing_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design, foreign, own = tmp_path / "a.yaml", tmp_path / "foreign.svg", tmp_path / "own.svg"
    design.write_text(PAUSED, encoding="utf-8")
    foreign.write_text("<svg>mine</svg>", encoding="utf-8")
    words = ["simulate", str(design), "--for", "20 s", "--runs", "1", "--picture"]
    assert command([*words, str(foreign)]) == 2
    assert foreign.read_text(encoding="utf-8") == "<svg>mine</svg>"
    assert command([*words, str(design)]) == 2
    assert "end it in .svg or .png" in capsys.readouterr().err
    assert command([*words, str(own)]) in (0, 1)
    first = own.read_bytes()
    assert command([*words, str(own)]) in (0, 1)
    assert own.read_bytes() == first


def test_runs_over_counts_are_named_as_not_drawn(tmp_path: Path) -> None:
    file = tmp_path / "counts.svg"
    assert command(["simulate", "specs/evict-place", "--for", "1 min", "--runs", "1", "--picture", str(file)]) == 0
    text = " ".join(re.findall(">([^<>]+)</text>", file.read_text(encoding="utf-8")))
    assert "runs over counts have no course: " in text
    assert "histograms" not in text
