"""Known limit cycles and sampled laws, by their kinds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bench.references.integer_maps import sigma_delta
from bench.references.recurrences import delayed_integrator, polynomial_verdict
from coherence.loops.cycles.describing_functions import screen
from coherence.loops.cycles.limit_cycles import Cycle, limit_cycles
from coherence.loops.cycles.relay import Array, System, feedback, relay, rounding
from coherence.loops.cycles.smooth import smooth_cycles
from tests.paths import DATA, read_yaml

CASES = read_yaml(DATA / "loops-numeric.yaml")["cases"]
CYCLES = [case for case in CASES if case["kind"] == "limit_cycle"]
LONG = {"B26_relay_hysteresis_integrator", "B32_van_der_pol"}  # seconds each


def switching(model: dict[str, Any]) -> System:
    if "round" in model.get("dde", "") or set(model) == {"k"}:
        return feedback([model["k"]], [1, 0], rounding(most=20), delay=1)
    if "tau" in model:
        return feedback([model["K"]], [model["tau"], 1], relay(model["d"], model["eps"]), delay=model["theta"])
    if "theta" in model:
        return feedback([model["k"]], [1, 0], relay(model["d"], model.get("eps", 0.0)), delay=model["theta"])
    return feedback([1], [1, 3, 2, 0], relay(1))


def smooth(model: dict[str, Any]) -> Cycle:
    if "ode" in model:

        def rate(x: Array, _: Array) -> Array:
            return np.stack([x[1], 0.1 * (1 - x[0] ** 2) * x[1] - x[0]])

        return smooth_cycles(rate, 2, starts=[[0.5, 0.0]], scale=1.0).attracting[0]
    r = model["r"]
    return smooth_cycles(lambda n, past: r * n * (1 - past), 1, delay=1.0, starts=[[0.5]]).attracting[0]


def numbers(case: dict[str, Any]) -> list[dict[str, float]]:
    """What each attracting cycle gives, in the words of the cases; one at rest where there is none."""
    model = case["model"]
    if "map" in model:
        dither = sigma_delta(Fraction(model["p"], model["q"]))
        return [{"period_samples": dither.period, "mean": float(dither.mean)}]
    if "ode" in model or "r" in model:
        return [cycle_numbers(smooth(model))]
    loop = switching(model)
    guesses = screen(loop)
    harmonic = {"DF_amplitude": guesses[0].amplitude, "DF_period": guesses[0].period} if guesses else {}
    cycles = limit_cycles(loop).attracting
    return [harmonic | cycle_numbers(cycle) for cycle in cycles] or [{"peak_to_peak": 0.0}]


def cycle_numbers(cycle: Cycle) -> dict[str, float]:
    low, high = cycle.lowest[0], cycle.highest[0]
    return {
        "period": cycle.period, "exact_period": cycle.period, "amplitude": high, "exact_amplitude": high,
        "peak_to_peak": high - low, "ratio_max_min": high / low if low else 0.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["id"], marks=[pytest.mark.slow] * (case["id"] in LONG)) for case in CYCLES]
)
def test_limit_cycle(case: dict[str, Any]) -> None:
    found = numbers(case)
    expected = case["expected"]
    assert any(
        all(
            got[key] == pytest.approx(e["value"], rel=e["rtol"], abs=1e-6 * (e["value"] == 0))
            for key, e in expected.items()
        )
        for got in found
    ), found


@pytest.mark.parametrize(("delay", "modulus", "period"), [(1, 1.0, 6.0), (2, 1.1509639, 8.9267832)])
def test_logarithmic_integrators(delay: int, modulus: float, period: float) -> None:
    verdict = polynomial_verdict(delayed_integrator(1, delay))
    assert (verdict.modulus, verdict.period) == pytest.approx((modulus, period), rel=1e-6)
