"""Pictures of the commands check, graph, region and bound: titles name the system and never a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coherence.cli._run import run
from tests.paths import SPECS

if TYPE_CHECKING:
    import pytest

SHED = str(SPECS / "shed-barrier" / "design.yaml")


def test_check_draws_conflicts_to_svg_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "c.svg"
    assert run(["check", SHED, "--picture", str(picture), "-o", "concise"]) == 1
    text = picture.read_text(encoding="utf-8")
    assert "1 conflict of local shedding against a global barrier" in text
    assert str(SPECS) not in text
    assert run(["check", SHED, "--picture", str(tmp_path / "c.png")]) == 2
    assert run(["check", SHED, "--diff", "--picture", str(picture)]) == 2
    assert "leave --watch, --fix and --diff out" in capsys.readouterr().err


def test_graph_draws_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", SHED, "-o", "svg"]) == 0
    text = capsys.readouterr().out
    assert "Risk surface of local shedding against a global barrier" in text
    assert 'class="node zone conflict"' in text
    assert run(["graph", SHED, "--time-limit", "3"]) == 2


def test_region_and_bound_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    region, bound = tmp_path / "r.svg", tmp_path / "b.svg"
    after = "timers.watchdog.after=10 min:60 min"
    assert run(["region", SHED, "-p", after, "--asks", "8", "--no-half-spaces", "--picture", str(region)]) == 0
    assert "Safe settings of local shedding" in region.read_text(encoding="utf-8")
    given = ["size=8GiB", "bandwidth=250 GB/s"]
    assert run(["bound", "all_reduce_end_point", "n=2..9", *given, "--picture", str(bound)]) == 0
    assert "time of one all-reduce" in bound.read_text(encoding="utf-8")
    assert run(["bound", "all_reduce_end_point", "--picture", str(bound)]) == 2
    assert run(["bound", SHED, "--picture", str(bound)]) == 2
    capsys.readouterr()
