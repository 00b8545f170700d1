"""Published numbers of control loops, asked of network files on the command line (`analyze --network`)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coherence.cli._run import run
from tests.paths import read_yaml

LONG = {  # seconds each
    "B04_fopdt_ultimate", "B06_skogestad_rhp_zero", "B14_zoh_integrator_fracdelay_0.25", "B15_zoh_first_order",
    "B17_two_loops_rotational", "B18_two_loops_symmetric", "B22_smith_mismatch_k2", "B24_timescale_separation",
    "B41_bullwhip_ES", "B49_wood_berry_rga", "B52_distillation_rga",
}  # fmt: skip
CASES = {
    case["id"]: case["expected"] for case in read_yaml(Path(__file__).parents[1] / "data/loops-numeric.yaml")["cases"]
}
Data = dict[str, Any]


def one(numerator: str, denominator: str, delay: float = 0.0, more: str = "") -> str:
    """Returns one block with negative feedback."""
    block = f"{{numerator: {numerator}, denominator: {denominator}, delay: {delay!r} s{more}}}"
    return f"network: 1\nblocks: {{loop: {block}}}\ncouplings: [{{from: loop, to: loop, gain: -1}}]\n"


def rated(numerator: str, denominator: str, delay: float) -> str:
    """Returns one plant behind a hold of 1 s."""
    return one(numerator, denominator, delay, ", rate: 1 s")


def two(off: float, sign: float) -> str:
    """Returns x' = -k M x(t - 1), M = (1, off; sign off, 1), at k = 0.1."""
    blocks = "".join(f"  {name}: {{numerator: [0.1], denominator: [1, 0], delay: 1 s}}\n" for name in "ab")
    rows = [("a", "a", 1.0), ("b", "a", off), ("a", "b", sign * off), ("b", "b", 1.0)]
    couplings = "".join(f"  - {{from: {a}, to: {b}, gain: {-gain}}}\n" for a, b, gain in rows)
    return f"network: 1\nblocks:\n{blocks}couplings:\n{couplings}"


def plant(gains: tuple[tuple[float, float], tuple[float, float]]) -> str:
    """Returns steady gains behind lags, with a small controller on each diagonal pair."""
    signs = [1e-3 * math.copysign(1, gains[i][i]) for i in (0, 1)]
    blocks = [f"  g{i}{j}: {{numerator: [{gains[i][j]}], denominator: [10, 1]}}" for i in (0, 1) for j in (0, 1)]
    blocks += [f"  c{i}: {{numerator: [{signs[i]}], denominator: [1]}}" for i in (0, 1)]
    couplings = [f"  - {{from: c{j}, to: g{i}{j}}}" for i in (0, 1) for j in (0, 1)]
    couplings += [f"  - {{from: g{i}{j}, to: c{i}, gain: -1}}" for i in (0, 1) for j in (0, 1)]
    return "\n".join(["network: 1", "blocks:", *blocks, "couplings:", *couplings, ""])


# s + 2 (1 - e^-s + e^(-s theta)), theta = 1: one integrator, what the model expects and what the plant shows
SMITH = """network: 1
blocks:
  integral: {numerator: [2], denominator: [1, 0]}
  model: {numerator: [1], denominator: [1], delay: 1 s}
  plant: {numerator: [1], denominator: [1], delay: 1 s}
couplings:
  - {from: integral, to: integral, gain: -1}
  - {from: integral, to: model}
  - {from: integral, to: plant}
  - {from: model, to: integral}
  - {from: plant, to: integral, gain: -1}
"""
# x' = A x + u, y = C x with A = (0, 10; -10, 0), C = (1, 10; -10, 1), and y fed back
SATELLITE = """network: 1
blocks:
  x1: {numerator: [1], denominator: [1, 0]}
  x2: {numerator: [1], denominator: [1, 0]}
  y1: {numerator: [1], denominator: [1]}
  y2: {numerator: [1], denominator: [1]}
couplings:
  - {from: x2, to: x1, gain: 10}
  - {from: x1, to: x2, gain: -10}
  - {from: x1, to: y1}
  - {from: x2, to: y1, gain: 10}
  - {from: x1, to: y2, gain: -10}
  - {from: x2, to: y2}
  - {from: y1, to: x1, gain: -1}
  - {from: y2, to: x2, gain: -1}
"""
MODE = """network: 1
blocks:
  in: {numerator: [1], denominator: [1]}
  mode: {numerator: [1], denominator: [1, 0.2, 1]}
couplings: [{from: in, to: mode}]
"""
GAIN, INTERACTION = ("--critical", "gain", "--of", "loop"), ("--interaction", "--of", "c0,c1")


def critical(factor: float = 1.0) -> Callable[[Data], dict[str, float]]:
    """Returns what reads a critical gain, times the gain in the file."""

    def read(data: Data) -> dict[str, float]:
        (answer,) = data["answers"]
        at, frequency = factor * answer["at"], answer["frequency_rad_per_s"]
        known = {"omega": frequency, "period": math.tau / frequency} if frequency else {}
        return {"k_crit": at, "K_crit": at, "k_tau_crit": at, "Ku1": at, "Ku2_abs": at, **known}

    return read


def margins(data: Data) -> dict[str, float]:
    (at,) = data["margins"]
    return {
        "GM": at["factor_high"], "PM_deg": at["phase_degrees"], "delay_margin": at["delay_seconds"],
        "omega_c": at["gain_crossover_rad_per_s"], "omega_180": at["phase_crossover_rad_per_s"],
        "Ms": at["Ms"]["value"], "Mt": at["Mt"]["value"],
    }  # fmt: skip


def sampled(factor: float) -> Callable[[Data], dict[str, float]]:
    def read(data: Data) -> dict[str, float]:
        (at,) = data["margins"]
        assert at["gain"]["high"]["proved"] >= at["gain"]["high"]["at"] * 0.999
        high = at["gain"]["high"]
        period = math.tau / high["frequency_rad_per_s"]
        return {"k_crit": factor * high["at"], "K_crit": factor * high["at"], "period_samples": period}

    return read


def root(data: Data) -> dict[str, float]:
    assert data["rightmost_confirmed"]
    real, imaginary = data["rightmost"][0]
    return {"root_re": real, "root_im_abs": imaginary, "rightmost_re": real}


def modulus(data: Data) -> dict[str, float]:
    return {"spectral_radius": data["growth_per_lap"], "period_samples": data["period_seconds"]}


def interaction(data: Data) -> dict[str, float]:
    (answer,) = data["answers"]
    sizes = answer["singular_values"]
    return {
        "RGA11": answer["relative_gains"][0][0], "NI": answer["niederlinski"], "sigma_max": sizes[0],
        "sigma_min": sizes[-1], "cond": answer["condition"],
    }  # fmt: skip


def upper_delay(data: Data) -> dict[str, float]:
    return {"theta_upper": 1 + data["answers"][0]["at"]}


def peak(data: Data) -> dict[str, float]:
    return {"Hinf": data["answers"][0]["value"]}


def stages(numerator: str, denominator: str, count: int) -> str:
    """Returns stages of a supply chain by one ordering law, each reading the orders of the one before."""
    law = f"{{numerator: {numerator}, denominator: {denominator}, period: 1 s}}"
    rows = "".join(f"  s{k}: {law}\n" for k in range(1, count + 1))
    couplings = "".join(f"  - {{from: s{k}, to: s{k + 1}}}\n" for k in range(1, count))
    return f"network: 1\nsamplers:\n{rows}" + (f"couplings:\n{couplings}" if couplings else "")


def bullwhip(data: Data) -> dict[str, float]:
    tiers = next(answer for answer in data["answers"] if answer["question"] == "along")["tiers"]
    known = {"variance_ratio": tiers[0]["variance_ratio"], "Hinf": tiers[0]["gain"]}
    return {**known, f"Hinf_{len(tiers)}_echelons": tiers[-1]["gain"]}


SKOGESTAD_PI = "[-86.5632, 36.4656, 3.408]"  # 1.136 (12.7 s + 1) 3 (1 - 2 s)
FILES: dict[str, tuple[str, tuple[str, ...], Callable[[Data], dict[str, float]]]] = {
    "B01_integrator_delay_kcrit": (one("[0.02]", "[1, 0]", 30), GAIN, critical(0.02)),
    "B02_lambertw_root": (one("[1]", "[1, 0]", 1), (), root),
    "B03_lambertw_double_root": (one("[0.36787944117144233]", "[1, 0]", 1), (), root),
    "B04_fopdt_ultimate": (one("[1]", "[1, 1]", 1), GAIN, critical()),
    "B06_skogestad_rhp_zero": (one("[-6, 3]", "[50, 15, 1]"), GAIN, critical()),
    "B07_skogestad_PI_margins": (one(SKOGESTAD_PI, "[635, 190.5, 12.7, 0]"), (), margins),
    "B08_matlab_PI_deadtime": (one("[0.06, 0.24, 0.18]", "[1, 0.3, 1, 0]", 2.6), (), margins),
    **{f"B11_discrete_integrator_d{d}": (rated("[0.1]", "[1, 0]", d), (), sampled(0.1)) for d in (1, 2, 3)},
    **{
        f"B14_zoh_integrator_fracdelay_{delay}": (rated("[0.1]", "[1, 0]", delay), (), sampled(0.1))
        for delay in (0.25, 0.5, 1.0, 1.5)
    },
    "B15_zoh_first_order": (rated("[1]", "[1, 1]", 0), (), sampled(1.0)),
    "B17_two_loops_rotational": (two(1.0, -1.0), ("--critical", "gain", "--of", "a,b"), critical(0.1)),
    "B18_two_loops_symmetric": (two(0.6, 1.0), ("--critical", "gain", "--of", "a,b"), critical(0.1)),
    "B22_smith_mismatch_k2": (SMITH, ("--critical", "delay", "--of", "plant"), upper_delay),
    "B24_timescale_separation": (one("[1]", "[1, 2, 1, 0]"), GAIN, critical()),
    "B39_bullwhip_MA": (stages("[1.8, 0, 0, 0, 0, -0.8]", "[1, 0, 0, 0, 0, 0]", 1), ("--along", "s1"), bullwhip),
    "B41_bullwhip_ES": (stages("[2.2, -1.9]", "[1, -0.7]", 4), ("--along", "s1,s2,s3,s4"), bullwhip),
    "B44_second_order_Hinf": (MODE, ("--peak", "in:mode"), peak),
    "B45_simc_fopdt": (one("[1]", "[2, 0]", 1), (), margins),
    "B49_wood_berry_rga": (plant(((12.8, -18.9), (6.6, -19.4))), INTERACTION, interaction),
    "B52_distillation_rga": (plant(((87.8, -86.4), (108.2, -109.6))), INTERACTION, interaction),
    "B60_pade10_false_stability": (one("[1.8]", "[1, 0.12, 9]", 10), (), root),
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in LONG else case for case in FILES]
)
def test_a_published_number_is_printed(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, asked, read = FILES[case]
    file = tmp_path / "network.yaml"
    file.write_text(words, encoding="utf-8")
    code = run(["analyze", "--network", str(file), *asked, "--time-limit", "300", "-o", "json"])
    data = json.loads(capsys.readouterr().out)
    assert code == int(data["verdict"] == "unstable")
    known = read(data)
    for name, expected in CASES[case].items():
        value, within = expected["value"], expected["rtol"] * abs(expected["value"]) or 1e-6
        assert known[name] == pytest.approx(value, abs=within), name


@pytest.mark.slow
@pytest.mark.parametrize(("number", "gain", "lag", "late"), [("1", 12.8, 16.7, 1.0), ("2", 19.4, 14.4, 3.0)])
def test_the_single_loops_of_the_column_have_their_ultimate_gains(
    number: str, gain: float, lag: float, late: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, expected = tmp_path / "network.yaml", CASES["B51_wood_berry_Ku"]
    file.write_text(one(f"[{0.01 * gain!r}]", f"[{lag}, 1]", late), encoding="utf-8")
    assert run(["analyze", "--network", str(file), *GAIN, "-o", "json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    gains = [expected[name]["value"] for name in (f"Ku{number}", f"Ku{number}_abs") if name in expected]
    assert [0.01 * answer["at"]] == pytest.approx(gains, rel=1e-6)
    assert answer["frequency_rad_per_s"] == pytest.approx(expected[f"wu{number}"]["value"], rel=1e-6)


@pytest.mark.slow
def test_the_disk_of_the_satellite_is_just_below_the_published_one_at_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 / sqrt(100.25) is attained at rest; near 0.05 rad/s it is 1 / max |1/2 - (1 + 10 j) / (1 + j w)|."""
    file = tmp_path / "network.yaml"
    file.write_text(SATELLITE, encoding="utf-8")
    assert run(["analyze", "--network", str(file), "--interaction", "--of", "y1,y2", "-o", "json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    sizes = (abs(0.5 - (1 + 10j) / (1 - 1j * k / 10_000)) for k in range(2_000))
    assert answer["disk_together"]["size"] == pytest.approx(1 / max(sizes), rel=1e-5)
    assert answer["disk_together"]["size"] < CASES["B55_spinning_satellite_mu"]["multiloop_disk_margin"]["value"]
