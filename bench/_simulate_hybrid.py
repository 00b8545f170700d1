"""Hybrid and batched execution: points x instants per second against the exact executor, agreement with scipy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction

from bench.harness import Row
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.batched.executor import execute_many, point
from coherence.simulate.execute import hybrid
from coherence.simulate.execute.exact import Choices, execute

FEED = """
coherence: 1
components:
  power:
    h: 0 kW .. 200 kW
    state: "p' = 0.8 * p + 0.2 * (10 kW + batch.load)"
    step: 1 s
    from: 0 kW
loops:
  throttle: {rank: 1, timescale: {period: 1 s}, trigger: {enter: p >= 80 kW, leave: p <= 60 kW}, actuation: {}}
  backfill:
    rank: 2
    timescale: {period: 1 s}
    rules: [{when: throttle, by: -20 kW}, {when: p < power.h, by: 5 kW}]
    actuation: {signal: batch.load, bounds: [0 kW, 200 kW], from: 0 kW}
"""
SCALER = """
coherence: 1
components: {web: {load: 1 .. 1000, usage: load / replicas}}
loops:
  hpa:
    timescale: {period: 15 s, hold_down: 45 s}
    target: {signal: "delayed(web.usage, 30 s)", setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: web.replicas, law: proportional, bounds: [1, 100000], from: 120}
"""
OSCILLATOR = """
coherence: 1
components:
  a: {state: "x' = b.y / 1 s", from: 2}
  b: {state: "y' = ((1 - a.x * a.x) * b.y - a.x) / 1 s", from: 0}
"""
POINTS, REFERENCE, INSTANTS = 10_000, 20, 100


def rows() -> Iterator[Row]:
    """Speed-up and agreement over thresholds and over loads; distance from scipy on a smooth oscillator."""
    thresholds = [Fraction(30_000) + Fraction(60_001 * k, POINTS) for k in range(POINTS)]
    yield from _compared("throttle and backfill over thresholds", elaborate(read_text(FEED)), "power.h", thresholds, 1)
    loads = [1 + Fraction(999 * k, POINTS) for k in range(POINTS)]
    yield from _compared("replica autoscaler over loads", elaborate(read_text(SCALER)), "web.load", loads, 15)
    yield Row("Van der Pol at 20 s", _distance(), "<= 1e-6", "absolute", "scipy solve_ivp, DOP853, 1e-12")


def _compared(what: str, model: Model, path: str, levels: list[Fraction], period: int) -> Iterator[Row]:
    until = Fraction(period * (INSTANTS - 1))
    start = time.perf_counter()
    batch = execute_many(model, {path: levels}, until=until)
    batched = POINTS * INSTANTS / (time.perf_counter() - start)
    chosen = range(0, POINTS, POINTS // REFERENCE)
    start = time.perf_counter()
    runs = {j: execute(model, point({path: levels}, Choices(), j), until=until) for j in chosen}
    alone = REFERENCE * INSTANTS / (time.perf_counter() - start)
    worst = max(
        abs(float(instant.after[signal]) - series[i, j]) / (1 + abs(float(instant.after[signal])))
        for j, run in runs.items()
        for i, instant in enumerate(run)
        for signal, series in batch.series.items()
    )
    yield Row(f"{what}: points x instants", batched, ">= 500000", "1/s", f"exact one by one: {alone:.0f}/s")
    yield Row(f"{what}: speed-up", batched / alone, ">= 50", "times", "exact executor, one point after the other")
    yield Row(f"{what}: distance", worst, "<= 1e-9", "relative", f"exact executor, {REFERENCE} points")
    yield Row(f"{what}: points run again exactly", len(batch.again) / POINTS, "<= 0.01", "share")


def _distance() -> float:
    from scipy.integrate import solve_ivp

    run = hybrid.execute(elaborate(read_text(OSCILLATOR)), until=Fraction(20))
    reference = solve_ivp(
        lambda _, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]], (0, 20), [2, 0], method="DOP853", rtol=1e-12, atol=1e-12
    )
    end = run.at(Fraction(20))
    return float(max(abs(end["a.x"] - float(reference.y[0, -1])), abs(end["b.y"] - float(reference.y[1, -1]))))
