"""What is displayed of a bound that a program computes is what it computes: each is written out again here."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm

from coherence.minimums.bound import Bound
from coherence.minimums.floors import at
from coherence.minimums.formulas import number
from coherence.minimums.registry import bounds, entry
from coherence.minimums.report import formula_latex, sign_of


@pytest.mark.parametrize("bound", bounds(), ids=lambda bound: bound.name)
def test_every_bound_shows_a_formula_of_its_symbols(bound: Bound) -> None:
    assert bool(bound.formula) != bool(bound.display)
    shown = formula_latex(bound)
    assert shown.count("{") - shown.count(r"\{") == shown.count("}") - shown.count(r"\}")
    assert shown.count(r"\left") == len(re.findall(r"\\right(?!arrow)", shown))
    if bound.display:
        assert {s.name for s in bound.symbols if sign_of(s) not in shown} <= {"fabric", "edges"}  # graphs


BOTH = [bound for bound in bounds() if bound.formula and bound.compute is not None]


@pytest.mark.parametrize("bound", BOTH, ids=lambda bound: bound.name)
def test_a_formula_beside_a_program_has_its_values(bound: Bound) -> None:
    for example in bound.examples:
        value = float(at(bound, example.inputs))
        assert float(number(bound.formula, example.inputs)) == pytest.approx(value, rel=1e-6)


def _age(load: float) -> float:
    return 1 + 1 / load + load**2 / (1 - load)


def _least(f: Callable[[float], float], low: float, high: float) -> Any:
    return minimize_scalar(f, bounds=(low, high), method="bounded", options={"xatol": 1e-12})


def _coins(p: float, q: float) -> float:
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def _controllers(k: float, spread: float) -> float:
    grid = np.linspace(0, spread + 1, 400_001)
    left = np.maximum(0, spread / np.sqrt((spread + grid) ** 2 + 1) - grid)
    return float(np.min(k**2 * grid**2 + left**2))


def _sampled(times: tuple[float, ...]) -> float:
    def off(age: float) -> float:
        longer = [max(age, time) for time in times]
        return age - statistics.fmean(x**2 for x in longer) / (2 * statistics.fmean(longer))

    return float(brentq(off, 1e-9, 100)) + statistics.fmean(times)


def _pipeline(f: tuple[float, ...], b: tuple[float, ...], m: int) -> float:
    def stage(s: int) -> float:
        after = sum(f[s + 1 :]) + sum(b[s + 1 :])
        own = max(m * (f[s] + b[s]), f[s] + after + m * b[s], m * f[s] + after + b[s])
        return sum(f[:s]) + own + sum(b[:s])

    return max(map(stage, range(len(f))))


def _page(information: float, false_alarms: float) -> float:
    height = float(brentq(lambda h: math.exp(h) - h - 1 - information * false_alarms, 0, 50))
    return (height + math.exp(-height) - 1) / information - 1


WRITTEN: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("age_best_load", {}, _least(_age, 0.01, 0.99).x),
    ("age_least", {"mean": 3}, 3 * _least(_age, 0.01, 0.99).fun),
    ("barrier_lognormal", {"n": 7, "sigma": 0.5},
     math.exp(-0.125) * quad(lambda x: 1 - norm.cdf(math.log(x) / 0.5) ** 7, 1e-12, 60, limit=500)[0]),
    ("barrier_normal", {"n": 7, "mean": 2, "sigma": 0.5},
     2 + 0.5 * quad(lambda x: x * 7 * norm.cdf(x) ** 6 * norm.pdf(x), -12, 12)[0]),
    ("barrier_trace", {"durations": ((1, 2), (4, 1))}, 1 - 8 / (2 * 6)),
    ("bins_by_volume", {"sizes": (4, 5, 3), "capacity": 7}, 2),
    ("blind_dispatch_time", {"servers": 3, "rate": 2, "mean": 1},
     1 / (1 - brentq(lambda s: (2 / (2 + 1 - s)) ** 3 - s, 0, 0.99))),
    ("data_rate", {"eigenvalues": (3, 0.5, -2)}, math.log2(6) / 8),
    ("data_rate_continuous", {"poles": (3, -1, 2)}, 5 / math.log(2) / 8),
    ("detection_delay", {"information": 0.5, "false_alarms": 1000},
     _page(0.5, 1000)),
    ("fork_join_time", {"n": 4, "load": 0.8, "mean": 2},
     2 * max(5, (25 / 12) / (1 - brentq(lambda s: math.exp(-(1 - s) / 0.8) - s, 0, 0.99)))),
    ("lossy_channel_growth", {"loss": 0.2, "bits": 3, "moment": 2}, (0.2 + 0.8 / 64) ** -0.5),
    ("neighbour_skew", {"links": 100, "uncertainty": 1, "slowest": 1, "fastest": 1.02, "drift": 0.01}, 1 / 4 * (2 + 3)),
    ("one_bit_sensors", {"shift": 1, "false_alarm": 1e-6, "miss": 0.1},
     _coins(0.9, 1e-6) / -_least(lambda t: -_coins(norm.cdf(1 - t), norm.cdf(-t)), -5, 5).fun),
    ("pipeline_makespan", {"forward": (1, 3, 2), "backward": (2, 2, 5), "m": 4}, _pipeline((1, 3, 2), (2, 2, 5), 4)),
    ("power_of_choices", {"load": 0.9, "choices": 2}, sum(0.9 ** (2**i - 2) for i in range(1, 12))),
    ("precopy_rounds", {"state": 64, "rate": 8, "dirtying": 2, "pause": 0.1}, 4),  # 8 / 4^k s
    ("quorum_latency", {"round_trips": (9, 3, 5, 7)}, 5),
    ("retries_for_availability", {"p": 0.2, "availability": 0.999}, 4),  # .2^5 = .00032
    ("sampled_at_will_age", {"times": (1, 2, 9)}, _sampled((1, 2, 9))),
    ("sampled_gain", {"weights": (0, 0, 1)}, 2 * math.sin(math.pi / 10)),
    ("separate_controllers_cost", {"price": 0.2, "spread": 5}, _controllers(0.2, 5)),
    ("shortest_first_time", {"arrivals": (0, 1), "sizes": (4, 1)}, (5 + 1) / 2),
    ("task_graph_time", {"times": (1, 2, 3), "edges": ((0, 1),), "workers": 1}, 6),
    ("time_scale_separation", {"a11": 2, "a12": 3, "a21": -4, "a22": -5}, 2.5),
)  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "value"), WRITTEN, ids=[name for name, _, _ in WRITTEN])
def test_what_is_displayed_is_what_is_computed(name: str, inputs: dict[str, Any], value: float) -> None:
    bound = entry(name).bound
    assert bound.display
    assert float(at(bound, inputs)) == pytest.approx(value, rel=1e-6)


def test_chains_and_searches_are_displayed_as_such() -> None:
    """Those that are not written out again here have proofs that do it: chains, cuts, searches over all contents."""
    left = {bound.name for bound in bounds() if bound.display} - {name for name, _, _ in WRITTEN}
    assert all(entry(name).bound.proofs for name in left)
    assert len(left) <= 18
