"""Maps of linear verdicts from Python: the points of the frame, the picture, and what the command prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.base.jobs import WorkerPool
from coherence.cli._run import run
from coherence.door.sources import entry_of
from coherence.door.sweep import sweep
from coherence.exploring import linear_maps, render_linear_map

LATE = """coherence: 1
components: {a: {g: 0.3, h: 1, level: 10 - a.x}}
loops:
  p:
    timescale: {period: 10 s, phase: 0 s}
    trigger: always
    actuation:
      signal: a.x
      law: set
      to: "a.x + a.h * a.g * (delayed(a.level, 10 s) - 2)"
      from: 1
      bounds: [-90, 90]
"""
AXES = {"components.a.g": (0.05, 1.95, 39), "components.a.h": (0.1, 0.7, 4)}


@pytest.mark.slow
def test_points_are_those_of_the_textbook_and_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """x[k+1] = x[k] - gh x[k-1] is stable for 0 < gh < 1."""
    file, picture = tmp_path / "late.yaml", tmp_path / "map.svg"
    file.write_text(LATE, encoding="utf-8")
    mapped = sweep(file, AXES, linear=True)
    rows = list(zip(*(mapped.to_frame()[key] for key in (*AXES, "verdict")), strict=True))
    assert len(rows) == 39 * 4
    assert all(verdict == ("stable" if g * h < 1 else "unstable") for g, h, verdict in rows)
    words = ["-p", "components.a.g=0.05:1.95:39", "-p", "components.a.h=0.1:0.7:4", "--picture", str(picture)]
    assert run(["sweep", str(file), "--linear", *words, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == mapped.to_dict()
    assert "linear verdict at the operating point" in picture.read_text(encoding="utf-8")


def test_a_picture_has_a_rectangle_for_each_stretch_of_equal_marks() -> None:
    mapped = sweep(LATE, AXES, linear=True)
    (panel,) = render_linear_map.figure("late", mapped.sweep, mapped.rows).panels
    area = {fill: 0.0 for *_, fill in panel.cells}
    for left, low, right, high, fill in panel.cells:
        area[fill] += (right - left) * (high - low)
    shares = {mark: area[fill] / sum(area.values()) for mark, fill in render_linear_map.FILLS.items() if fill in area}
    whole = "".join(mapped.rows)
    assert shares == pytest.approx({mark: whole.count(mark) / len(whole) for mark in "ox"})
    assert len(panel.cells) == sum(len(set(row)) for row in mapped.rows)


@pytest.mark.slow
def test_two_processes_make_the_same_map(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_maps, "CHUNK", 30)
    mapped = sweep(LATE, AXES, linear=True)
    again = linear_maps.judged(mapped.sweep, None, entry_of(LATE).sources, workers=WorkerPool(2))
    assert tuple(again) == mapped.rows


def test_more_keys_than_two_are_refused() -> None:
    with pytest.raises(UsageError, match="one or two"):
        sweep(LATE, {**AXES, "components.a.x": (1, 2)}, linear=True)
