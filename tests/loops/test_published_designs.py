"""Published limit cycles and laws, asked of designs on the command line (`analyze DESIGN`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.cli._run import run
from tests.loops.test_published_networks import CASES


def flow(rate: str, start: float) -> str:
    return f'coherence: 1\ncomponents:\n  a: {{state: "x\' = {rate}", from: {start}}}\n'


def relay(late: str) -> str:
    return f"(1 if delayed(a.x, {late}) > 0 else -1)"


def first_order_lag(late: int) -> str:
    """Returns a relay around a lag of 1 s."""
    return flow(f"(-a.x - {relay(f'{late} s')}) / 1 s", 0.5)


def rounded(gain: float) -> str:
    return flow(f"-{gain!r} * floor(delayed(a.x, 1 s) + 0.5) / 1 s", 1.4)


def analyzed(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    file = tmp_path / "design.yaml"
    file.write_text(words, encoding="utf-8")
    assert run(["analyze", str(file), "--no-retune", "-o", "json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


KHALIL = """coherence: 1
components:
  a: {state: "x' = b.x / 1 s", from: 0.1}
  b: {state: "x' = (c.x - b.x) / 1 s", from: 0}
  c: {state: "x' = (-2 * c.x - (1 if a.x > 0 else -1)) / 1 s", from: 0}
"""
CYCLES = {
    "B25_relay_integrator_delay": flow(f"-0.05 * {relay('30 s')} / 1 s", 0.5),
    "B27_relay_fopdt_1": first_order_lag(1),
    "B27_relay_fopdt_5": first_order_lag(5),
    "B30_khalil_relay": KHALIL,
    "B36_quantised_replicas_GM1.1": rounded(1.4279966607),
    "B36_quantised_replicas_GM1.2": rounded(1.308996939),
    "B36_quantised_replicas_GM1.3": rounded(1.2083048668),
}


@pytest.mark.parametrize("case", CYCLES)
def test_a_published_limit_cycle_is_printed(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cycles = analyzed(CYCLES[case], tmp_path, capsys)["limit_cycles"]
    cycle = next(cycle for cycle in cycles if cycle["verdict"] == "cycle")
    low, high = next((low, high) for path, low, high in cycle["ranges"] if path == "a.x")
    known = {"period": cycle["period"], "amplitude": (high - low) / 2, "peak_to_peak": high - low}
    known |= {f"exact_{name}": value for name, value in known.items()}
    for name, expected in CASES[case].items():
        if not name.startswith("DF_"):
            assert known[name] == pytest.approx(expected["value"], rel=expected["rtol"]), name


def test_a_gain_below_one_has_no_cycle_of_whole_replicas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cycles = analyzed(rounded(0.9817477), tmp_path, capsys)["limit_cycles"]
    assert {cycle["verdict"] for cycle in cycles} == {"none"}
