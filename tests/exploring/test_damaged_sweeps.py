"""Damaged files of sweeps, and ranges at the ends of floating point."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from coherence.cli._run import run
from coherence.exploring.sweeps import cell_from
from coherence.exploring.swept_numbers import axes

# two resonances next to each other: one root pair at +4e-10, which rounding moves to -1.4e-9
# three of them and a lag: a root pair at +2.8e-8, computed at -5.1e-7

DESIGN = """\
coherence: 1
system: an autoscaler
workload: {web: {rate: 98 req/s}}
components:
  pool: {rate_per_replica: 40 req/s, usage: web.attempts / (pool.replicas * pool.rate_per_replica)}
loops:
  hpa:
    target: {signal: pool.usage, setpoint: 50 %, tolerance: 10 %}
    timescale: {period: 15 s}
    actuation: {signal: pool.replicas, law: proportional, bounds: [1, 40], from: 4}
"""


class TestSweeps:
    @pytest.mark.parametrize(
        "row",
        [
            {"values": 5},
            {"values": [[1], {}]},
            {"verdict": "banana"},
            {"verdict": [1]},
            {"period": "x"},
            {"period": math.nan},
            {"growth": math.inf},
            {"loops": 7},
            {"why": 5},
            {"assumes": "pool.k = 3"},
        ],
    )
    def test_a_damaged_line_is_no_cell(self, row: dict[str, object]) -> None:
        good = {"values": ["1"], "verdict": "settles", "loops": [], "period": None, "growth": 0.5, "why": ""}
        good["assumes"] = []
        assert cell_from(good) is not None
        assert cell_from({**good, **row}) is None

    @pytest.mark.slow
    def test_a_damaged_file_is_mended(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        design, store = tmp_path / "design.yaml", tmp_path / "kept.jsonl"
        design.write_text(DESIGN)
        words = ["sweep", str(design), "-p", "loops.hpa.target.setpoint=40 %:60 %:2", "--into", str(store)]
        assert run(words) == 0
        lines = store.read_text().splitlines()
        first = {**json.loads(lines[1]), "verdict": "banana"}
        store.write_text(
            "\n".join([lines[0], json.dumps(first), '{"values": ["40 %"]}', "[" * 100_000, lines[2]]) + "\n"
        )
        capsys.readouterr()
        assert run(words) == 0
        assert "settles 2" in capsys.readouterr().out

    def test_small_and_narrow_ranges_keep_their_digits(self) -> None:
        sources = {"x.yaml": DESIGN}
        (small,) = axes(["loops.hpa.timescale.period=1e-20 s:1e-18 s:3"], sources)
        assert [small.edit(v).new for v in small.values] == ["1e-20 s", "5.05e-19 s", "1e-18 s"]
        (narrow,) = axes(["workload.web.rate=1000000 req/s:1000001 req/s:4"], sources)
        assert len({narrow.edit(v).new for v in narrow.values}) == 4

    def test_an_end_below_every_float_is_refused_on_a_logarithmic_range(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        design = tmp_path / "design.yaml"
        design.write_text(DESIGN)
        assert run(["sweep", str(design), "-p", "workload.web.rate=1e-400 req/s:1 req/s:log:3"]) == 2
        assert "above 0" in capsys.readouterr().err
