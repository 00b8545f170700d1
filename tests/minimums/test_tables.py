"""Tables with commas say what the commands say: one bound over its ranges, the registry, the floors of a design."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from coherence.cli._run import run
from coherence.minimums.floors import at
from coherence.minimums.registry import bounds, entry

DESIGN = """coherence: 1
infrastructure:
  tiers:
    left: {count: 4, link_bandwidth: 50 GB/s, message_size: 2 GB, dense_bf16: 100 TFLOP/s}
"""


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    assert run(["bound", *words, "-o", "csv"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("bound,unit,kind,")
    return list(csv.DictReader(io.StringIO(text)))


def test_a_range_has_its_value_and_its_curve_in_si(capsys: pytest.CaptureFixture[str]) -> None:
    whole, *curve = rows(capsys, "pipeline_bubble_share", "p=4", "m=8..10")
    assert (float(whole["low"]), float(whole["high"])) == pytest.approx((3 / 13, 3 / 11))
    left = [row for row in curve if row["without"]]
    points = {float(row["m"]): float(row["low"]) for row in curve if not row["without"]}
    own = entry("pipeline_bubble_share").bound
    assert points == pytest.approx({m: float(at(own, {"p": 4, "m": m})) for m in (8.0, 9.0, 10.0)})
    assert all(float(row["low"]) <= float(whole["low"]) for row in left)


def test_units_of_a_curve_are_those_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, *curve = rows(capsys, "data_rate_continuous", "poles=1 rad/s")
    assert curve == []
    whole, *curve = rows(capsys, "batch_forming_delay", "batch=8", "rate=10 Hz .. 20 Hz")
    (first, *_, last) = [row for row in curve if not row["without"]]
    assert (float(first["rate"]), float(last["rate"])) == (10, 20)
    assert (float(last["low"]), float(first["high"])) == pytest.approx((float(whole["low"]), float(whole["high"])))


def test_every_bound_is_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["bound"] for row in rows(capsys, "--list")] == [bound.name for bound in bounds()]


def test_floors_of_a_design_say_what_is_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(DESIGN)
    found = {row["bound"]: row for row in rows(capsys, str(file))}
    assert float(found["reduce_scatter"]["low"]) == pytest.approx(3 / 4 * 2 / 50)
    assert found["compute_time"]["low"] == ""
    assert "operations of tier left" in found["compute_time"]["missing"]
    table = tmp_path / "floors.csv"
    assert run(["bound", str(file), "-o", f"csv={table}"]) == 0
    assert run(["bound", str(file), "-o", f"csv={table}"]) == 0, "our own table may be written again"
    table.write_text("a,b\n1,2\n")
    assert run(["bound", str(file), "-o", f"csv={table}"]) == 2


def test_tasks_and_proofs_have_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "--buys", "-o", "csv"]) == 2
    assert run(["bound", "clock_skew_path", "--prove", "-o", "csv"]) == 2
    assert "text or json" in capsys.readouterr().err
