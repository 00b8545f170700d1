"""`analyze --series` on the command line: a published number, a design beside it, and what would have no effect."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter

from coherence.cli._run import run
from tests.loops.test_published_networks import CASES

DESIGN = """coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: "delayed(web.usage, 30 s)", setpoint: 0.5}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
"""


def table(path: Path, columns: np.ndarray, interval: float = 15.0) -> Path:
    names = [f"x{k}" for k in range(len(columns))]
    rows = np.vstack([np.arange(columns.shape[1]) * interval, columns]).T
    np.savetxt(path, rows, delimiter=",", header=",".join(["time", *names]), comments="")
    return path


@pytest.mark.slow
def test_correlated_samples_are_worth_their_published_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case B59: of 9,500 samples of AR(1) with 0.9, on average 500 (Bayley and Hammersley)."""
    noise = np.random.default_rng(0).normal(size=(20, 9_900)) * math.sqrt(1 - 0.81)
    file = table(tmp_path / "ar.csv", lfilter([1], [1, -0.9], noise)[:, 400:])
    assert run(["analyze", "--series", str(file), "-o", "json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    expected = CASES["B59_neff_ar1"]["n_eff"]
    assert np.mean([c["effective_samples"] for c in columns]) == pytest.approx(expected["value"], rel=expected["rtol"])


@pytest.mark.slow
def test_series_beside_a_design_name_what_they_hide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = tmp_path / "design.yaml"
    design.write_text(DESIGN, encoding="utf-8")
    noise = np.random.default_rng(1).normal(size=(2, 64))
    file = table(tmp_path / "x.csv", noise, 120.0)
    assert run(["analyze", str(design), "--series", str(file), "--response", "x0:x1"]) == 0
    text = capsys.readouterr().out
    assert "hpa: the design has a period of" in text
    assert "hpa: a period of" in text.rsplit("\n", 2)[-2]
    assert "x0 to x1: gain" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--series", "x.csv", "--critical", "gain"], "--critical would have no effect"),
        (["design.yaml", "--transient"], "--transient would have no effect"),
        (["--series", "x.csv", "--response", "a"], "write A:B"),
    ],
)
def test_what_would_have_no_effect_is_refused(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "x.csv", np.random.default_rng(1).normal(size=(1, 64)))
    assert run(["analyze", *words]) == 2
    assert message in capsys.readouterr().err
