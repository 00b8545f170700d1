"""Stability maps: which numbers are varied, within which ends, and that the command gives the same points again."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.assessment.parts.stability_maps import keys, stability_map
from coherence.checking.workspace import Entry, open_workspace
from coherence.exploring.sweeps import written
from coherence.exploring.swept_numbers import axes

LOOP = """\
coherence: 1
components: {{q: {{level: 4, pressure: level}}}}
loops:
  valve: {{trigger: q.pressure > 2, timescale: {{period: {period}}}, target: {{signal: q.pressure, setpoint: {share}}},
          actuation: {{signal: q.copies, law: step, by: 1, bounds: [1, 9], from: 1}}}}
"""


def _entry(folder: Path, period: str = "10 s", share: str = "40 %") -> Entry:
    path = folder / "design.yaml"
    path.write_text(LOOP.format(period=period, share=share), encoding="utf-8")
    return open_workspace([path]).entries[0]


@pytest.mark.parametrize(
    ("share", "ends"), [("40 %", ("20 %", "80 %")), ("70 %", ("56 %", "87.5 %")), ("20 %", ("5 %", "80 %"))]
)
def test_shares_stay_below_one_hundred(tmp_path: Path, share: str, ends: tuple[str, str]) -> None:
    chosen = {key: (low, high) for key, low, high, _ in keys(_entry(tmp_path, share=share), (), ["valve"])}
    assert chosen["loops.valve.actuation.by"] == ("0.25", "4")
    assert chosen["loops.valve.timescale.period"] == ("2.5 s", "40 s")
    assert len(chosen) == 2  # a map has two axes
    assert _ends_of(tmp_path, share) == ends


def _ends_of(folder: Path, share: str) -> tuple[str, str]:
    """Returns the ends of the setpoint, where the other numbers are ranges that no axis is made of."""
    text = LOOP.format(period="5 s .. 10 s", share=share).replace("by: 1,", "by: 1 .. 2,")
    (folder / "design.yaml").write_text(text, encoding="utf-8")
    ((_, low, high, _),) = keys(open_workspace([folder / "design.yaml"]).entries[0], (), ["valve"])
    return low, high


def test_no_number_means_no_map(tmp_path: Path) -> None:
    mapped = stability_map(_entry(tmp_path), (), ["another loop"], 5.0)
    assert "no loop in feedback states a number" in mapped.refused


def test_the_command_gives_the_same_points(tmp_path: Path) -> None:
    entry = _entry(tmp_path)
    mapped = stability_map(entry, (), ["valve"], 20.0)
    again = axes([option for option in mapped.options if option != "-p"], entry.sources)
    assert [axis.values for axis in again] == [axis.values for axis in mapped.axes]
    assert mapped.today == (1.0, 10.0)
    assert mapped.cells[12].values == written(mapped.axes, (2, 2))
