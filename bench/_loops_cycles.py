"""Limit cycles: exact answers against a plain fixed-step simulation of random switching loops, and the replica law."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.linalg import expm

from bench.harness import Row
from coherence.loops.cycles import limit_cycles
from coherence.loops.cycles_maps import ReplicaLaw, default_histories, replica_cycle
from coherence.loops.delayed_runs import start_at
from coherence.loops.relay import Array, System, feedback, relay

SYSTEMS, STEPS = 24, 120_000
LOADS = (10, 37, 100)
STRIDE = 40  # of the default histories: "many starts" in seconds


def rows() -> Iterator[Row]:
    """Worst differences in period and amplitude, cycles missed or invented, and wrong replica periods."""
    rng = np.random.default_rng(7)
    periods, ranges, wrong, screened = [0.0], [0.0], 0, [0.0]
    for _ in range(SYSTEMS):
        loop = _random(rng)
        answer = limit_cycles(loop, starts=[start_at(loop, np.full(loop.size, 0.5))])
        seen = simulated(loop, answer.attracting[0].period if answer.attracting else 20.0)
        if (seen is None) != (not answer.attracting):
            wrong += 1
        elif seen is not None:
            best = min(answer.attracting, key=lambda c: abs(c.period - seen[0]))
            periods.append(abs(best.period / seen[0] - 1))
            ranges.append(abs(best.swing / (seen[2] - seen[1]) - 1))
            screened += [min(abs(2 * g.amplitude / best.swing - 1) for g in answer.guesses)] if answer.guesses else []
    peer = f"fixed steps, {SYSTEMS} random relays; first harmonic off by up to {100 * max(screened):.0f} %"
    yield Row("limit cycles: period", 100 * max(periods), "<= 0.1", "%", peer)
    yield Row("limit cycles: amplitude", 100 * max(ranges), "<= 0.5", "%", peer)
    yield Row("limit cycles: missed or invented", wrong, "== 0", "of random systems", peer)
    yield Row("replica law: wrong periods, delay 0 to 5", _replicas(), "== 0", "of starts", "plain iteration")


def _random(rng: np.random.Generator) -> System:
    """A relay with hysteresis around one to three lags with delay."""
    lags = rng.uniform(0.3, 3, rng.integers(1, 4))
    denominator = np.atleast_1d(np.poly(-1 / lags))
    height = float(rng.uniform(0.05, 0.5))
    return feedback([denominator[-1]], denominator.tolist(), relay(1, height), delay=float(rng.uniform(0.1, 3)))


def simulated(loop: System, period: float) -> tuple[float, float, float] | None:
    """(period, lowest, highest) by exact steps of fixed length, the relay seen at their ends only."""
    step = period / 4000
    a, b, c, _ = loop.matrices
    size, lag, element = len(a), round(loop.rise[0] / step), loop.elements[0]
    step = loop.rise[0] / lag
    one = expm(np.block([[a, b], [np.zeros((1, size + 1))]]) * step)
    x, level, outputs = np.full(size, 0.5), 1, [1.0] * lag
    level = element.level(float(c[0] @ x))
    outputs = [2.0 * level - 1.0] * lag
    values = np.empty(STEPS // 3)
    for k in range(len(values)):
        values[k] = c[0] @ x
        low, high = element.bounds(level)
        level += int(values[k] > high) - int(values[k] < low)
        outputs.append(2.0 * level - 1.0)
        x = one[:size, :size] @ x + one[:size, size] * outputs[k]
    return _read(values[len(values) // 2 :], step)


def _read(y: Array, step: float) -> tuple[float, float, float] | None:
    if np.ptp(y) < 1e-6:
        return None
    ups = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    times = ups - y[ups] / (y[ups + 1] - y[ups])
    return float((times[-1] - times[0]) / (len(times) - 1)) * step, float(y.min()), float(y.max())


def _replicas() -> float:
    wrong = 0
    for load in LOADS:
        for delay in range(6):
            law = ReplicaLaw(Fraction(load), Fraction(1, 2), delay, high=400)
            for history in list(default_histories(law))[::STRIDE]:
                found = replica_cycle(law, history)
                wrong += found is None or found.period != iterated(load, delay, list(history))
    return float(wrong)


def iterated(load: int, delay: int, history: list[int]) -> int:
    """The period seen at the end of 4,000 plain steps of the law with target 1/2 and tolerance 10 %."""
    n = history[::-1]
    for _ in range(4000):
        top, bottom = 2 * load, n[-1 - delay]
        near = 10 * abs(top - bottom) <= bottom
        n.append(n[-1] if near else min(max(-(-n[-1] * top // bottom), 1), 400))
    return next(p for p in range(1, 1500) if n[-1500:] == n[-1500 - p : -p])
