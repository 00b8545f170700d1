"""Sampled loops, waves, and what telemetry tells: against closed forms, the executor, and simpler habits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.signal import lfilter

from bench.harness import Row
from bench.references.queue_relaxation import numeric_gap, relaxation
from bench.references.recurrences import delayed_integrator
from coherence.language.reading import read_text
from coherence.loops.designs.linear import linearise
from coherence.loops.identification.effective_samples import mean
from coherence.loops.identification.oscillation import Oscillation, oscillation
from coherence.loops.identification.response import response
from coherence.loops.identification.transient import ring_down
from coherence.loops.margins.peaks import amplification
from coherence.loops.margins.sampled_amplification import amplified
from coherence.loops.multirate.critical_gain import critical_gain, crossings, gain_polynomials, windows
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked, multirate
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.model.elaborate import elaborate

MINUTES = 1  # of processor, about
FRACTIONAL = {0.25: 4.0, 0.5: 2.0, 1.0: 1.0, 1.5: 2 * (math.sqrt(2) - 1), 2.5: 4 - 2 * math.sqrt(3)}
SEEDS = 40
FLOWS = """
coherence: 1
components: {{a: {{u: 3, v: 3, state: "x' = (a.u - a.v) / 1 s", from: 17}}}}
loops:
  supply:
    rank: 1
    timescale: {{period: {p} s}}
    actuation: {{signal: a.u, to: "3 + 0.4 * (17 - delayed(a.x, {d} s))", bounds: [0, 1000], from: 3}}
  drain:
    rank: 2
    timescale: {{period: {q} s}}
    actuation: {{signal: a.v, to: "3 + 0.3 * (mean_over(a.x, {w} s) - 17)", bounds: [0, 1000], from: 3}}
"""


def rows() -> Iterator[Row]:
    """Critical gains, amplification, agreement with the executor, and how often intervals hold."""
    yield from _gains()
    yield from _waves()
    yield Row(
        "two rates, delay, window: multiplier against the executor's derivative", _executor(), "<= 1e-9", "relative"
    )
    yield from _coverage()


def _held(delay: float) -> Callable[[Any], Network]:
    return lambda k: network([Block("x", (1.0,), (1.0, 0.0), delay, 1.0)], [Coupling("x", "x", -k)])


def _gains() -> Iterator[Row]:
    exact = max(abs(_by_polynomials(delay) / k - 1) for delay, k in FRACTIONAL.items())
    searched = max(abs(critical_gain(_held(d), low=0.1, high=10) / k - 1) for d, k in FRACTIONAL.items())
    peer = max(abs(_pade(d) / k - 1) for d, k in FRACTIONAL.items())
    words = f"python-control, Pade 3 and zero-order hold: {peer:.1e}"
    yield Row("sampled critical gain, fractional delay, by polynomials", exact, "<= 1e-6", "relative", words)
    yield Row("sampled critical gain, fractional delay, by search", searched, "<= 1e-6", "relative", words)
    discrete = max(
        abs(crossings(delayed_integrator(0, d), (1,))[0].gain / (2 * math.sin(math.pi / (2 * (2 * d + 1)))) - 1)
        for d in range(1, 51)
    )
    yield Row("discrete critical gain, delays of 1 to 50 steps", discrete, "<= 1e-6", "relative", "closed form")


def _by_polynomials(delay: float) -> float:
    return windows(*gain_polynomials(lambda k: multirate(_held(delay)(k))))[0].high


def _pade(delay: float) -> float:
    """Critical gain of the held integrator with python-control's approximation of its delay."""
    import control

    plant = control.tf([1], [1, 0]) * control.tf(*control.pade(delay, 3))
    sampled = control.sample_system(plant, 1.0, method="zoh")
    p, q = np.atleast_1d(sampled.den[0][0]), np.atleast_1d(sampled.num[0][0])
    return windows(tuple(map(float, p)), tuple(map(float, q)))[0].high


def _waves() -> Iterator[Row]:
    mean_of_five, smoothed = ((1.8, 0, 0, 0, 0, -0.8), (1, 0, 0, 0, 0, 0)), ((2.2, -1.9), (1, -0.7))  # lead 4
    closed = ((mean_of_five, 3.88, 2.6), (smoothed, 1 + 2.4 + 2.88 / 1.7, 1 + 2.4 / 1.7))  # variance, peak
    answers = [(amplified(_stages(hop, 1), "s0", "s0"), amplified(_stages(hop, 4), "s0", "s3")) for hop, _, _ in closed]
    expected = [(variance, peak) for _, variance, peak in closed]
    pairs = list(zip(answers, expected, strict=True))
    off = max(abs(one.variance_ratio / variance - 1) for (one, _), (variance, _) in pairs)
    height = max(abs(four.peak.value / peak**4 - 1) for (_, four), (_, peak) in pairs)
    mode = amplification(network([Block("r", (1.0,), (1.0, 0.2, 1.0))], [])).peak
    resonance = abs(mode.value * 0.2 * math.sqrt(0.99) - 1) if mode else math.inf
    yield Row("bullwhip: variance ratio of a stage", off, "<= 1e-9", "relative", "closed forms of Chen et al.")
    yield Row("bullwhip: peak over four stages", height, "<= 1e-6", "relative", "closed form")
    yield Row("resonance: peak", resonance, "<= 1e-7", "relative", "closed form")
    gap = abs(numeric_gap(0.8, 1.0) / relaxation(0.8, 1.0).gap - 1)
    words = f"fluid pole is off {relaxation(0.8, 1.0).ratio:.2f} times"
    yield Row("M/M/1 relaxation gap at load 0.8, generator against closed form", gap, "<= 1e-4", "relative", words)


def _stages(hop: tuple[tuple[float, ...], tuple[float, ...]], count: int) -> Multirate:
    """Returns stages of a supply chain that order by one law, each seeing the orders of the one before."""
    samplers = [Sampler(f"s{number}", *hop) for number in range(count)]
    return checked(samplers, (), [Coupling(f"s{k}", f"s{k + 1}") for k in range(count - 1)])


def _executor() -> float:
    worst = 0.0
    for p, q, d, w in (("2", "3", "1.5", "2"), ("3", "2", "2.5", "4"), ("1", "1.5", "0.7", "2.2")):
        near = {"a.x": Fraction(17), "a.u": Fraction(3), "a.v": Fraction(3)}
        linear = linearise(elaborate(read_text(FLOWS.format(p=p, q=q, d=d, w=w))), near)
        drain = Sampler("drain", (-0.3,), period=float(q), window=float(w), rank=2)
        own = checked(
            [Sampler("supply", (-0.4,), period=float(p), rank=1), drain],
            [Block("x", (1.0,), (1.0, 0.0)), Block("late", (1.0,), (1.0,), float(d))],
            [Coupling("supply", "x"), Coupling("drain", "x"), Coupling("x", "late"), Coupling("late", "supply"),
             Coupling("x", "drain")],
        )  # fmt: skip
        worst = max(worst, abs(floquet(own).modulus / linear.verdict.modulus - 1) if linear else math.inf)
    return worst


def _coverage() -> Iterator[Row]:
    """95 % intervals, each over seeds; with 40 seeds a true 95 % gives fewer than 35 hits once in 300."""
    hits = {"mean": 0, "naive": 0, "period": 0, "decay": 0, "ring period": 0, "ring decay": 0, "gain": 0, "delay": 0}
    invented = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        series = _drift(rng, 1000, 0.8)
        hits["mean"] += mean(series).holds(0)
        hits["naive"] += abs(series.mean()) <= 1.96 * series.std() / math.sqrt(1000)
        mode = oscillation(_swing(rng, 1000, 20, 60), 1.0)
        if isinstance(mode, Oscillation):
            hits["period"] += mode.period.holds(20)
            hits["decay"] += mode.decay_time.holds(60)
        invented += isinstance(oscillation(_drift(rng, 600, 0.9) + 0.3 * rng.normal(size=600), 1.0), Oscillation)
        k = np.arange(200)
        ring = ring_down(5 + 4 * np.exp(-k / 60) * np.cos(math.tau * k / 20 + 1) + _drift(rng, 200, 0.5), 1.0)
        hits["ring period"] += ring.period.holds(20)
        hits["ring decay"] += ring.decay_time.holds(60)
        u = _drift(rng, 400, 0.7)
        tier = response(u, _tier(u - u.mean(), 2.0, 3.3, 4.0) + 0.7 * _drift(rng, 400, 0.6), 1.0, most_delay=10)
        hits["gain"] += tier.gain.holds(2.0)
        hits["delay"] += tier.delay.holds(3.3)
    shares = {name: count / SEEDS for name, count in hits.items()}
    yield Row("mean of correlated telemetry: 95 % interval holds", shares["mean"], ">= 0.875", "share",
              f"interval that takes values as independent: {shares['naive']:.2f}")  # fmt: skip
    for name in ("period", "decay", "ring period", "ring decay", "gain", "delay"):
        yield Row(f"{name} from telemetry: 95 % interval holds", shares[name], ">= 0.875", "share")
    yield Row(f"oscillations seen in {SEEDS} series of drift and noise", invented, "<= 0", "count")


def _drift(rng: np.random.Generator, count: int, phi: float) -> Any:
    return lfilter([1], [1, -phi], rng.normal(size=count + 400) * math.sqrt(1 - phi * phi))[400:]


def _swing(rng: np.random.Generator, count: int, period: float, decay: float) -> Any:
    r, angle = math.exp(-1 / decay), math.tau / period
    x = lfilter([1], [1, -2 * r * math.cos(angle), r * r], rng.normal(size=count + 3000))[3000:]
    return x / x.std() + 0.5 * rng.normal(size=count)


def _tier(u: Any, gain: float, delay: float, lag: float) -> Any:
    """First-order lag with delay of an input held for a second, by superposition of its steps."""
    k = np.arange(len(u))
    late = k[:, None] - k[None, :] - delay
    return gain * (np.where(late > 0, -np.expm1(-np.maximum(late, 0) / lag), 0.0) @ np.diff(u, prepend=0.0))
