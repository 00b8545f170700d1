"""`coherence analyze`: what is left of its time goes to the limit cycles."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from coherence.cli._run import run
from coherence.door import analyze
from coherence.loops.designs.feedback_groups import Deadline

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

    def refereed(subject: Any, analysis: Any, until: Deadline) -> tuple[Any, tuple[()], tuple[()]]:
        del subject
        given.append(until.left)
        return analysis, (), ()

    monkeypatch.setattr(analyze, "_refereed", refereed)
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    assert run(["analyze", str(tmp_path / "design.yaml"), "--no-retune", "--time-limit", "1000"]) == 0
    assert 500 < given[0] <= 1000


def hangs(*_: object, **__: object) -> None:
    """Looks at no deadline, and computes for longer than any limit of these tests."""
    end = time.process_time() + 30
    while time.process_time() < end:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("coherence.simulate.execute.orbits.FollowedRun.until", "valve: undecided: the time limit was reached"),
        ("coherence.loops.analysis.design_analysis._points", "valve: undecided: the time limit was reached"),
        ("coherence.loops.analysis.retuning.retuned", "other settings were sought for a part of the groups only"),
        ("coherence.loops.designs.predicted_cycles._readings", "all loops: undecided: the time limit"),
        ("coherence.loops.analysis.second_opinions.disagreements", "answers were not laid beside each other"),
    ],
)
def test_the_time_limit_holds_for_what_looks_at_no_clock(
    place: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(place, hangs)
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    begun = time.monotonic()
    run(["analyze", str(tmp_path / "design.yaml"), "--time-limit", "0.5"])
    assert time.monotonic() - begun < 20  # it hangs for 30 s; machines that are shared pause
    assert line in capsys.readouterr().out


def test_the_time_limit_counts_seconds_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the machine does beside it takes nothing of the limit; what the analysis computes does."""
    whole = Deadline(0.2)
    time.sleep(0.3)
    assert whole.left > 0.1
    monkeypatch.setattr("coherence.simulate.execute.orbits.FollowedRun.until", hangs)
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    begun = time.process_time()
    run(["analyze", str(tmp_path / "design.yaml"), "--time-limit", "0.5", "--no-retune"])
    assert time.process_time() - begun < 15
    assert "valve: undecided: the time limit was reached" in capsys.readouterr().out
