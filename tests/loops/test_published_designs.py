"""Published limit cycles and laws, asked of designs on the command line (`analyze DESIGN`)."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coherence.cli._run import run
from tests.loops.identification.test_effective_samples import drift
from tests.loops.test_published_networks import CASES, FILES


def flow(rate: str, start: float) -> str:
    return f'coherence: 1\ncomponents:\n  a: {{state: "x\' = {rate}", from: {start}}}\n'


def relay(late: str) -> str:
    return f"(1 if delayed(a.x, {late}) > 0 else -1)"


def first_order_lag(late: int) -> str:
    """Returns a relay around a lag of 1 s."""
    return flow(f"(-a.x - {relay(f'{late} s')}) / 1 s", 0.5)


def rounded(gain: float) -> str:
    return flow(f"-{gain!r} * floor(delayed(a.x, 1 s) + 0.5) / 1 s", 1.4)


def logistic(rate: float) -> str:
    return flow(f"{rate} * a.x * (1 - delayed(a.x, 1 s)) / 1 s", 0.5)


def analyzed(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    file = tmp_path / "design.yaml"
    file.write_text(words, encoding="utf-8")
    assert run(["analyze", str(file), "--no-retune", "--time-limit", "300", "-o", "json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


KHALIL = """coherence: 1
components:
  a: {state: "x' = b.x / 1 s", from: 0.1}
  b: {state: "x' = (c.x - b.x) / 1 s", from: 0}
  c: {state: "x' = (-2 * c.x - (1 if a.x > 0 else -1)) / 1 s", from: 0}
"""
VAN_DER_POL = """coherence: 1
components:
  a: {state: "x' = b.x / 1 s", from: 0.5}
  b: {state: "x' = (0.1 * (1 - a.x * a.x) * b.x - a.x) / 1 s", from: 0}
"""
HYSTERESIS = """coherence: 1
components:
  a: {state: "x' = 0.05 * (1 - 2 * (1 if relay else 0)) / 1 s", from: 0}
loops:
  relay:
    timescale: {period: 1 s, phase: 0 s}
    trigger: {enter: "delayed(a.x, 30 s) >= 2", leave: "delayed(a.x, 30 s) <= -2"}
    actuation: {signal: b.u, law: set, to: 1, bounds: [0, 1], from: 0}
"""  # whose thresholds are met in samples: its cycle is that of the relay in continuous time
CYCLES = {
    "B25_relay_integrator_delay": flow(f"-0.05 * {relay('30 s')} / 1 s", 0.5),
    "B26_relay_hysteresis_integrator": HYSTERESIS,
    "B27_relay_fopdt_1": first_order_lag(1),
    "B27_relay_fopdt_5": first_order_lag(5),
    "B30_khalil_relay": KHALIL,
    "B32_van_der_pol": VAN_DER_POL,
    "B34_hutchinson_r1.8": logistic(1.8),
    "B34_hutchinson_r2.0": logistic(2.0),
    "B35_hutchinson_r1.6_published_wrong": logistic(1.6),
    "B36_quantised_replicas_GM1.1": rounded(1.4279966607),
    "B36_quantised_replicas_GM1.2": rounded(1.308996939),
    "B36_quantised_replicas_GM1.3": rounded(1.2083048668),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CYCLES)
def test_a_published_limit_cycle_is_printed(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cycles = analyzed(CYCLES[case], tmp_path, capsys)["limit_cycles"]
    cycle = next(cycle for cycle in cycles if cycle["verdict"] == "cycle")
    low, high = next((low, high) for path, low, high in cycle["ranges"] if path == "a.x")
    known = {"period": cycle["period"], "amplitude": (high - low) / 2, "peak_to_peak": high - low}
    known |= {"ratio_max_min": high / low} if low else {}
    known |= {f"exact_{name}": value for name, value in known.items()}
    for name, expected in CASES[case].items():
        if not name.startswith("DF_"):
            assert known[name] == pytest.approx(expected["value"], rel=expected["rtol"]), name


def test_a_gain_below_one_has_no_cycle_of_whole_replicas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cycles = analyzed(rounded(0.9817477), tmp_path, capsys)["limit_cycles"]
    assert {cycle["verdict"] for cycle in cycles} == {"none"}


AUTOSCALER = """coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: 15 s}}
    target: {{signal: "delayed(web.usage, {late} s)", setpoint: 0.5}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}}
"""


@pytest.mark.parametrize(("case", "late"), [("B12_hpa_multiplicative_d1", 15), ("B13_hpa_multiplicative_d2", 30)])
def test_the_law_of_an_autoscaler_has_its_published_modes(
    case: str, late: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (group,) = analyzed(AUTOSCALER.format(late=late), tmp_path, capsys)["groups"]
    (branch,) = group["operating_points"][0]["branches"]
    known = {"spectral_radius": branch["growth_per_lap"], "period_samples": branch["period_seconds"] / 15}
    for name, expected in CASES[case].items():
        assert known[name] == pytest.approx(expected["value"], rel=max(expected["rtol"], 1e-9)), name


@pytest.mark.slow
def test_a_queue_relaxes_at_the_fluid_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (flows,) = analyzed(flow("(0.8 - a.x / (1 + a.x)) / 1 s", 1), tmp_path, capsys)["flows"]
    ((real, imaginary),) = flows["equilibria"][0]["branches"][0]["rightmost"]
    assert (real, imaginary) == (pytest.approx(CASES["B56_mm1_relaxation"]["fluid_pole"]["value"], rel=1e-6), 0)


def test_three_layers_of_four_tries_make_sixty_four(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiers = ("user", "web", "api", "db")
    call = "  - {from: %s, to: %s, per_try: 1 s, tries: 4, retry_when: [timeout], on_timeout: abandon}\n"
    calls = "".join(call % ends for ends in itertools.pairwise(tiers))
    words = f"coherence: 1\nworkload: {{user: {{rate: 1 req/s}}}}\ncalls:\n{calls}"
    (retries,) = analyzed(words, tmp_path, capsys)["retries"]
    assert retries["tries"] == CASES["B42_retry_layers"]["worst_case"]["value"]


DITHER = """coherence: 1
components:
  a: {{state: "x' = a.x + {p}/{q} - b.u", step: 1 s, from: 0}}
loops:
  dither:
    timescale: {{period: 1 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: b.u, law: set, to: "floor(a.x + 0.5)", bounds: [0, 10], from: 0}}
"""


@pytest.mark.parametrize(("p", "q"), [(1, 2), (1, 3), (2, 5)])
def test_replicas_dither_with_the_period_of_their_fraction(
    p: int, q: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, expected = analyzed(DITHER.format(p=p, q=q), tmp_path, capsys), CASES[f"B37_sigma_delta_{p}_{q}"]
    (cycle,) = data["limit_cycles"]
    assert data["groups"][0]["exact"]["period_seconds"] == cycle["period"] == expected["period_samples"]["value"]
    assert ["b.u", 0, 1] in cycle["ranges"]
    assert cycle["duty"] == pytest.approx(expected["mean"]["value"], rel=1e-9)  # of a command of 0 and 1


@pytest.mark.slow
def test_correlated_samples_are_worth_their_published_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """n (1 - phi) / (1 + phi): of ten times as many samples, as one series of 9,500 is off by 7 % itself."""
    file, series = tmp_path / "series.csv", drift(np.random.default_rng(0), 95_000, 0.9)
    file.write_text("time,x\n" + "".join(f"{k},{float(x)!r}\n" for k, x in enumerate(series)), encoding="utf-8")
    assert run(["analyze", "--series", str(file), "-o", "json"]) == 0
    (column,) = json.loads(capsys.readouterr().out)["columns"]
    expected = CASES["B59_neff_ar1"]["n_eff"]
    assert column["effective_samples"] / 10 == pytest.approx(expected["value"], rel=expected["rtol"])


ONE_BY_ONE = {  # of tests of their own, here and beside the networks
    "B12_hpa_multiplicative_d1", "B13_hpa_multiplicative_d2", "B36b_quantised_no_cycle", "B37_sigma_delta_1_2",
    "B37_sigma_delta_1_3", "B37_sigma_delta_2_5", "B42_retry_layers", "B51_wood_berry_Ku", "B55_spinning_satellite_mu",
    "B56_mm1_relaxation", "B59_neff_ar1",
}  # fmt: skip


def test_every_published_case_is_asked_on_the_command_line() -> None:
    assert FILES.keys() | CYCLES.keys() | ONE_BY_ONE == CASES.keys()
