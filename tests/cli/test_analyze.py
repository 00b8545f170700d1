"""`coherence analyze`: what is left of its time goes to the limit cycles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherence.cli import analyze
from coherence.cli._run import run

if TYPE_CHECKING:
    import pytest

DESIGN = """coherence: 1
components: {tank: {state: "x' = 0.9 * x + tank.u", step: 1 s, from: 0}}
loops:
  valve:
    timescale: {period: 1 s, phase: 0 s}
    trigger: x < 5
    actuation: {signal: tank.u, by: 1, bounds: [0, 1], from: 0}
"""


def test_the_limit_cycles_have_the_time_that_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def refereed(subject: Any, analysis: Any, seconds: float) -> tuple[Any, tuple[()], tuple[()]]:
        del subject
        given.append(seconds)
        return analysis, (), ()

    monkeypatch.setattr(analyze, "_refereed", refereed)
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    assert run(["analyze", str(tmp_path / "design.yaml"), "--no-retune", "--time-limit", "1000"]) == 0
    assert 500 < given[0] <= 1000
