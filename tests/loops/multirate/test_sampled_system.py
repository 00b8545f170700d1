"""Sampled loops of several rates: lifting, verdicts, critical gains, and the derivative of the executor beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.references.recurrences import delayed_integrator, polynomial_verdict
from coherence.base.errors import UsageError
from coherence.language.reading import read_text
from coherence.loops.designs.linear import linearise
from coherence.loops.multirate.critical_gain import critical_gain, crossings, gain_polynomials, windows
from coherence.loops.multirate.lifting import lift
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked, multirate
from coherence.loops.multirate.verdict import clear_of_circle, floquet
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.model.elaborate import elaborate
from tests.draws import few
from tests.paths import DATA, read_yaml

CASES = DATA / "loops-numeric.yaml"
INTEGRATOR, LAG = ((1.0,), (1.0, 0.0)), ((1.0,), (1.0, 1.0))


def held(
    plant: tuple[tuple[float, ...], tuple[float, ...]], delay: float, rate: float = 1.0
) -> Callable[[Any], Network]:
    """k -> the plant behind a hold, fed back with -k."""
    return lambda k: network([Block("x", *plant, delay, rate)], [Coupling("x", "x", -k)])


def critical(build: Callable[[Any], Network]) -> float:
    found = windows(*gain_polynomials(lambda k: multirate(build(k))))
    assert found[0].stable
    return found[0].high


FRACTIONAL = [(0.25, 4.0), (0.5, 2.0), (1.0, 1.0), (1.5, 2 * (math.sqrt(2) - 1)), (2.5, 4 - 2 * math.sqrt(3))]


@pytest.mark.parametrize(("delay", "expected"), FRACTIONAL)
def test_integrator_behind_a_hold_with_a_fractional_delay(delay: float, expected: float) -> None:
    assert critical(held(INTEGRATOR, delay)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("delay", "expected"), FRACTIONAL[2:4])
def test_the_search_agrees_with_the_polynomials(delay: float, expected: float) -> None:
    assert critical_gain(held(INTEGRATOR, delay), low=0.1, high=10) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("rate", [0.1, 1.0, 7.0])
def test_first_order_lag_behind_a_hold(rate: float) -> None:
    assert critical(held(LAG, 0.0, rate)) == pytest.approx(1 / math.tanh(rate / 2), rel=1e-10)


@pytest.mark.parametrize("delay", [0, 1, 2, 3, 10, 40])
def test_delayed_integrator(delay: int) -> None:
    expected = 2 * math.sin(math.pi / (2 * (2 * delay + 1)))
    gain_windows = windows(delayed_integrator(0, delay), (1,))
    assert gain_windows[0].stable
    assert gain_windows[0].high == pytest.approx(expected, rel=1e-11)
    assert crossings(delayed_integrator(0, delay), (1,))[0].period == pytest.approx(2 * (2 * delay + 1), rel=1e-10)


def test_a_lap_of_integrators_is_rational_and_its_verdict_exact() -> None:
    lifted = lift(multirate(held(INTEGRATOR, 1.0)(1.0)))
    assert lifted.exact
    verdict = floquet(lifted)
    assert verdict.verdict == "marginal"
    assert verdict.period == pytest.approx(6)


@pytest.mark.parametrize("tenths", [1, 3, 9, 12, 27])
def test_decimal_times_are_taken_as_written(tenths: int) -> None:
    """A period of 0.1 s with a delay of 0.3 s is exactly marginal at the gain of three steps."""
    build = held(INTEGRATOR, tenths / 10, 0.1)
    found = critical(build)
    assert found * 0.1 == pytest.approx(2 * math.sin(math.pi / (2 * (2 * tenths + 1))), rel=1e-9)


def test_a_window_of_gains_that_opens_again() -> None:
    """z^2 - 1.8 z + 1.2 + k (0.6 z - 0.5): unstable, stable, unstable."""
    gain_windows = windows((1, -1.8, 1.2), (0, 0.6, -0.5))
    assert [window.stable for window in gain_windows] == [False, True, False]
    assert gain_windows[1].low == pytest.approx(0.4, rel=1e-9)
    assert gain_windows[1].high == pytest.approx(4.0 / 1.1, rel=1e-9)


# an independent reading: fine steps of the same differential equations


def run_fine(system: Multirate, laps: int, cells: int) -> list[float]:
    """Norm of all block states at the end of every lap, in `cells` exact steps per second, for lags 1 / (s + a)."""
    h = 1 / cells
    blocks = {b.name: b for b in system.blocks}
    x = dict.fromkeys(blocks, 1.0)
    command = {s.name: 0.0 for s in system.samplers}
    state = {s.name: 0.0 for s in system.samplers}
    past: dict[str, list[float]] = {s.name: [] for s in system.samplers}
    seen: dict[str, list[float]] = {b: [] for b in blocks}
    norms = []
    lap = round(float(system.period) * cells)
    for k in range(laps * lap):
        for b in blocks:
            seen[b].append(x[b])
        reads = {}
        for s in system.samplers:
            if (k - round(float(s.phase) * cells)) % round(float(s.period) * cells) == 0:
                total = 0.0
                for c in system.couplings:
                    if c.target == s.name:
                        width = round(float(s.window) * cells)
                        trace = [seen[c.source][0]] * width + seen[c.source]
                        last = trace[-width - 1 :]
                        mean = (sum(last) - (last[0] + last[-1]) / 2) / width if width else trace[-1]
                        total += c.gain * mean
                reads[s.name] = total
        for s in system.samplers:
            if s.name in reads:
                pole = -float(s.denominator[1]) if len(s.denominator) > 1 else 0.0
                if len(s.denominator) > 1:
                    command[s.name] = float(s.numerator[0]) * state[s.name]
                    state[s.name] = pole * state[s.name] + reads[s.name]
                else:
                    command[s.name] = float(s.numerator[0]) * reads[s.name]
            past[s.name].append(command[s.name])
        for name, block in blocks.items():
            u = 0.0
            for c in system.couplings:
                if c.target == name:
                    lag = round((block.delay + float({s.name: s for s in system.samplers}[c.source].lands)) * cells)
                    u += c.gain * (past[c.source][-1 - lag] if len(past[c.source]) > lag else 0.0)
            a = block.denominator[1]
            x[name] = x[name] * math.exp(-a * h) + block.numerator[0] * u * (-math.expm1(-a * h) / a if a else h)
        if (k + 1) % lap == 0:
            norms.append(math.sqrt(sum(v * v for v in x.values())))
    return norms


TWO = checked(
    [Sampler("fast", (0.5,), (1.0, -0.7), period=0.2, lands=0.1), Sampler("slow", (-1.2,), period=0.5, phase=0.3)],
    [Block("a", (1.5,), (1.0, 0.8), 0.3), Block("b", (2.0,), (1.0, 0.3), 0.1)],
    [Coupling("fast", "a"), Coupling("a", "slow", 0.9), Coupling("slow", "b"), Coupling("b", "fast", 0.8)],
)


def growth_of(system: Multirate, cells: int, laps: int = 130) -> float:
    """Mean growth per lap late in a fine run: the envelope of an oscillation."""
    norms = run_fine(system, laps, cells)
    last, first = (end + int(np.argmax(norms[end : end + 30])) for end in (laps - 30, 20))
    return float((norms[last] / norms[first]) ** (1 / (last - first)))


def test_two_rates_phases_and_landing_delays_agree_with_a_fine_run() -> None:
    found = floquet(TWO)
    assert found.verdict in {"stable", "unstable"}
    assert growth_of(TWO, 20) == pytest.approx(found.modulus, rel=5e-3)


def test_a_moving_average_agrees_with_a_fine_run() -> None:
    system = checked(
        [Sampler("control", (-0.9,), period=0.5, window=1.3)],
        [Block("x", *INTEGRATOR, 0.2)],
        [Coupling("control", "x"), Coupling("x", "control")],
    )
    lifted = lift(system)
    assert lifted.exact
    verdict = floquet(lifted)
    assert growth_of(system, 40) == pytest.approx(verdict.modulus, rel=2e-3)


@pytest.mark.parametrize("window", [1, 2, 4])
def test_a_longer_window_lowers_the_critical_gain_of_an_integrator(window: int) -> None:
    """The mean of w periods is (x[k] + 2 x[k-1] + ... + x[k-w]) / 2w, on the circle at the angle pi / (w + 1)."""

    def build(gain: float) -> Multirate:
        return multirate(held(INTEGRATOR, 0.0)(gain), windows={"x": float(window)})

    exact = 2 * window * math.tan(math.pi / (2 * (window + 1))) ** 2
    assert critical_gain(build, low=0.05, high=5) == pytest.approx(exact, rel=1e-8)


def test_without_a_window_the_critical_gain_of_an_integrator_is_two() -> None:
    found = critical_gain(lambda gain: multirate(held(INTEGRATOR, 0.0)(gain), windows={"x": 0.0}), low=0.05, high=5)
    assert found == pytest.approx(2, rel=1e-8)


def test_phases_change_the_verdict_of_two_loops() -> None:
    """What one loop does just before the other reads is half a period fresher than just after."""
    net = network(
        [Block("a", *INTEGRATOR, 0.0, 1.0), Block("b", *INTEGRATOR, 0.0, 1.0)],
        [Coupling("a", "b", 1.0), Coupling("b", "a", -0.5), Coupling("a", "a", -0.5), Coupling("b", "b", -0.5)],
    )
    together, apart = floquet(multirate(net)), floquet(multirate(net, phases={"b": 0.5}))
    assert together.verdict == "stable"
    assert apart.modulus != pytest.approx(together.modulus, rel=1e-3)


# designs: the derivative of the executor, and the same loops stated by hand

SCALER = """
coherence: 1
components: {{web: {{load: 100, usage: load / replicas}}}}
loops:
  hpa:
    timescale: {{period: 15 s}}
    target: {{signal: "{signal}", setpoint: 0.5}}
    actuation: {{signal: web.replicas, law: proportional, bounds: [1, 100000], from: 200}}
"""


@pytest.mark.parametrize("delay", [0, 1, 2, 3, 5])
def test_the_autoscaler_design_and_its_logarithm_agree(delay: int) -> None:
    signal = f"delayed(web.usage, {15 * delay} s)" if delay else "web.usage"
    linear = linearise(elaborate(read_text(SCALER.format(signal=signal))), {"web.replicas": Fraction(200)})
    assert linear is not None
    law = Sampler("hpa", (1.0, 0.0), (1.0, -1.0), period=15.0)
    own = checked(
        [law],
        [Block("usage", (1.0,), (1.0,), 15.0 * delay)],
        [Coupling("hpa", "usage"), Coupling("usage", "hpa", -1.0)],
    )
    verdict = floquet(own)
    assert verdict.verdict == {0: "stable", 1: "marginal"}.get(delay, "unstable")
    assert verdict.modulus == pytest.approx(linear.verdict.modulus, abs=1e-7)
    if delay:
        assert verdict.period == pytest.approx(linear.period, rel=1e-7)


FLOWS = """
coherence: 1
components: {{a: {{u: 3, v: 3, state: "x' = (a.u - a.v) / 1 s", from: 17}}}}
loops:
  supply:
    rank: 1
    timescale: {{period: {p} s{lands}}}
    actuation: {{signal: a.u, to: "3 + {g} * (17 - delayed(a.x, {d} s))", bounds: [0, 1000], from: 3}}
  drain:
    rank: 2
    timescale: {{period: {q} s}}
    actuation: {{signal: a.v, to: "3 + {h} * (mean_over(a.x, {w} s) - 17)", bounds: [0, 1000], from: 3}}
"""


@pytest.mark.parametrize(
    ("p", "q", "d", "w", "lands"),
    [
        ("1", "1", "1", "1", "0"),
        ("2", "3", "1.5", "2", "0"),
        ("3", "2", "2.5", "4", "0"),
        ("1", "1.5", "0.7", "2.2", "0.4"),
    ],
)
def test_a_design_of_two_rates_with_delay_and_window_agrees_with_the_executor(
    p: str, q: str, d: str, w: str, lands: str
) -> None:
    text = FLOWS.format(p=p, q=q, d=d, w=w, g=0.4, h=0.3, lands=f", lands: {lands} s" if lands != "0" else "")
    near = {"a.x": Fraction(17), "a.u": Fraction(3), "a.v": Fraction(3)}
    linear = linearise(elaborate(read_text(text)), near)
    assert linear is not None
    own = checked(
        [
            Sampler("supply", (-0.4,), period=float(p), lands=float(lands), rank=1),
            Sampler("drain", (-0.3,), period=float(q), window=float(w), rank=2),
        ],
        [Block("x", *INTEGRATOR), Block("late", (1.0,), (1.0,), float(d))],
        [
            Coupling("supply", "x"),
            Coupling("drain", "x"),
            Coupling("x", "late"),
            Coupling("late", "supply"),
            Coupling("x", "drain"),
        ],
    )
    verdict = floquet(own)
    assert float(own.period) == float(linear.lap)
    assert verdict.modulus == pytest.approx(linear.verdict.modulus, rel=1e-9)
    assert verdict.verdict == {True: "stable", False: "unstable", None: "marginal"}[linear.verdict.stable]


# laws


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 6), st.integers(1, 6), st.integers(0, 9), st.integers(0, 9), st.floats(0.05, 1.5), st.integers(2, 5)
)
def test_scaling_all_times_keeps_the_multipliers(p: int, q: int, d: int, e: int, gain: float, scale: int) -> None:
    def build(unit: int) -> Network:
        return network(
            [
                Block("a", (1.0 / unit,), (1.0, 0.0), d * unit / 4, p * unit / 2),
                Block("b", (gain,), (unit * 2.0, 1.0), e * unit / 4, q * unit / 2),
            ],
            [Coupling("a", "b", 0.5), Coupling("b", "a", -1.0)],
        )

    before, after = floquet(build(1)), floquet(build(scale))
    assert before.modulus == pytest.approx(after.modulus, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.floats(0.05, 0.9))
def test_loops_that_do_not_meet_have_their_own_multipliers(p: int, q: int, gain: float) -> None:
    blocks = [Block("a", *INTEGRATOR, 0.3, p / 2), Block("b", *LAG, 0.7, q / 2)]
    both = floquet(network(blocks, [Coupling("a", "a", -gain), Coupling("b", "b", -gain)]))
    alone = [floquet(network([block], [Coupling(block.name, block.name, -gain)])) for block in blocks]
    expected = max(one.modulus ** (both.lap / one.lap) for one in alone)
    assert both.modulus == pytest.approx(expected, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 4), st.fractions(Fraction(1, 20), 3, max_denominator=40))
def test_whole_delays_are_the_recurrence(delay: int, gain: Fraction) -> None:
    system = checked(
        [Sampler("c", (-gain,), period=1)],
        [Block("x", *INTEGRATOR, float(delay))],
        [Coupling("c", "x"), Coupling("x", "c")],
    )
    expected = polynomial_verdict(delayed_integrator(gain, delay))
    verdict = floquet(system)
    assert verdict.verdict == {True: "stable", False: "unstable", None: "marginal"}[expected.stable]
    if expected.stable is not None:
        assert verdict.modulus == pytest.approx(expected.modulus, rel=1e-5, abs=1e-6)


@pytest.mark.slow
@settings(max_examples=few(60), deadline=None)
@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=4),
    st.lists(st.integers(-9, 9), min_size=1, max_size=4),
    st.lists(st.fractions(Fraction(1, 100), 60, max_denominator=100), min_size=5, max_size=5),
)
def test_every_gain_has_the_verdict_of_its_window(top: list[int], bottom: list[int], gains: list[Fraction]) -> None:
    p, q = [Fraction(1), *(Fraction(c, 6) for c in top)], [Fraction(c, 4) for c in bottom[: len(top)]]
    if not any(q):
        return
    gain_windows = windows(p, q)
    padded = [Fraction(0)] * (len(p) - len(q)) + q
    for gain in gains:
        own = next(window for window in gain_windows if window.low <= gain <= window.high)
        if min(abs(float(gain) - end) for end in (own.low, own.high)) > 1e-6 * float(gain):
            verdict = polynomial_verdict([a + gain * b for a, b in zip(p, padded, strict=True)])
            assert (verdict.stable is True) == own.stable


@pytest.mark.parametrize(
    ("plant", "delay", "expected"),
    [
        (((1.0,), (1.0, 1.0, 0.0)), 0.0, 2.3922),  # Ogata, Discrete-Time Control Systems, example 4-7: T = 1 s
        (((1.0,), (1.0, 1.0)), 1.0, 1 / (1 - math.exp(-1))),  # z (z - a) + k (1 - a): k (1 - a) = 1
    ],
)
def test_textbook_plants(plant: tuple[tuple[float, ...], tuple[float, ...]], delay: float, expected: float) -> None:
    assert critical(held(plant, delay)) == pytest.approx(expected, rel=2e-5)
    assert critical_gain(held(plant, delay), low=0.1, high=10) == pytest.approx(critical(held(plant, delay)), rel=1e-8)


def test_the_circle_proof_refuses_what_touches_and_passes_what_does_not() -> None:
    def turned(size: float) -> np.ndarray:
        return size * np.array([[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]])

    assert not clear_of_circle(turned(1.0), 1.0, 1e-12)
    assert clear_of_circle(turned(1 - 1e-9), 1.0, 1e-12)
    assert clear_of_circle(turned(1 + 1e-9), 1.0, 1e-12)
    jordan = np.array([[0.5, 1e8], [0.0, 0.5]])
    assert not clear_of_circle(jordan, 1.0, 1e-8)


def test_on_the_circle_in_floating_point_is_undecided_never_stable() -> None:
    edge = 1 / math.tanh(0.5)
    assert floquet(held(LAG, 0.0)(edge)).verdict == "undecided"
    assert floquet(held(LAG, 0.0)(edge * (1 - 1e-9))).verdict == "stable"
    assert floquet(held(LAG, 0.0)(edge * (1 + 1e-9))).verdict == "unstable"


def test_a_swing_between_samples_is_not_overlooked() -> None:
    """An undamped resonance sampled once per turn shows nothing at the samples, and is still there."""
    turn = 2 * math.pi
    resonance = ((1.0,), (1.0, -0.02, turn**2))
    assert floquet(held(resonance, 0.0)(0.0)).verdict == "unstable"


def test_what_cannot_be_lifted_is_said() -> None:
    plain = network([Block("a", *LAG)], [Coupling("a", "a", -1.0)])
    with pytest.raises(UsageError, match="nothing is sampled"):
        multirate(plain)
    loop = network(
        [Block("s", *LAG, 0.0, 1.0), Block("a", *LAG, 1.0)],
        [Coupling("a", "a", -0.5), Coupling("s", "a"), Coupling("a", "s", -1.0)],
    )
    with pytest.raises(UsageError, match="delay form a loop"):
        floquet(loop)
    with pytest.raises(UsageError, match="round the periods"):
        floquet(network([Block("a", *LAG, 0.0, 1.0), Block("b", *LAG, 0.0, math.pi)], []))
    with pytest.raises(UsageError, match="known: s"):
        multirate(loop, phases={"S": 0.1})
    with pytest.raises(UsageError, match="reads the future"):
        checked([Sampler("x", (1.0, 2.0), (1.0,))])


def test_a_continuous_sensor_between_hold_and_sampler() -> None:
    """Plant 1/s, sensor 1/(s+1) with delay 0.3 beside it: as one block of the product."""
    build = [Block("plant", *INTEGRATOR, 0.4, 1.0), Block("sensor", *LAG, 0.3)]
    chain = floquet(network(build, [Coupling("plant", "sensor"), Coupling("sensor", "plant", -0.5)]))
    product = floquet(network([Block("both", (1.0,), (1.0, 1.0, 0.0), 0.7, 1.0)], [Coupling("both", "both", -0.5)]))
    assert chain.modulus == pytest.approx(product.modulus, rel=1e-9)
    assert chain.period == pytest.approx(product.period, rel=1e-9)


# cases with known answers


def _cases() -> list[Any]:
    return [case for case in read_yaml(CASES)["cases"] if case["kind"] in {"sampled", "discrete"}]


def measured(case: dict[str, Any]) -> dict[str, float]:
    """What is expected of a case, from its model alone."""
    model, values = case["model"], dict[str, float]()
    if "d" in model:
        first = crossings(delayed_integrator(0, model["d"]), (1,))[0]
        return {"K_crit": first.gain, "period_samples": first.period}
    if "law" in model:
        gain, delay = (int(part.split("=")[1]) for part in model["law"].split()[-1].split(","))
        verdict = polynomial_verdict(delayed_integrator(gain, delay))
        return {"spectral_radius": verdict.modulus, "period_samples": verdict.period or math.inf}
    plant = INTEGRATOR if "/s," in model["plant"] else LAG
    values["k_crit"] = critical(held(plant, model.get("tau", 0.0), model.get("T", 1.0)))
    return values


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_known_answers(case: dict[str, Any]) -> None:
    found = measured(case)
    for name, expected in case["expected"].items():
        assert found[name] == pytest.approx(expected["value"], rel=expected["rtol"])


def test_a_delay_of_very_many_periods_is_refused_at_once() -> None:
    slow = Block("plant", (1.0,), (1.0, 1.0), 1e9, 1e-9)
    with pytest.raises(UsageError, match="delays or windows are long"):
        lift(multirate(network([slow], [Coupling("plant", "plant", -2.0)])))
