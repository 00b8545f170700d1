"""Waves along chains: gains per hop, string stability, fields, bullwhip, retries, bursts."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.networks.network import Block, Coupling, loop, network
from coherence.loops.waves.bullwhip import (
    exponential_smoothing,
    exponential_smoothing_hop,
    moving_average,
    moving_average_hop,
    shared_demand,
)
from coherence.loops.waves.burst import burst
from coherence.loops.waves.chain_field import field
from coherence.loops.waves.chain_gain import amplitude_ratio, growth, peak, variance_ratio
from coherence.loops.waves.chains import Hop, closed_loop, passes_nothing_above, string_stability, unstable_poles
from coherence.loops.waves.network_field import closed_field
from coherence.loops.waves.network_gain import along
from coherence.loops.waves.retries import Layer, retries, worst_case
from tests.paths import DATA

CASES = DATA / "loops-numeric.yaml"
LAG = Hop("lag", (1,), (1, 1))


def resonance(zeta: float) -> Hop:
    return Hop("tier", (1,), (1, 2 * zeta, 1))


def test_a_resonance_peaks_at_its_closed_form() -> None:
    found = peak(resonance(0.1))
    assert found.value == pytest.approx(1 / (0.2 * math.sqrt(0.99)), rel=1e-12)
    assert found.frequency == pytest.approx(math.sqrt(1 - 0.02), rel=1e-9)
    assert found.bound == pytest.approx(found.value, rel=1e-8)


@pytest.mark.parametrize(
    ("damping", "verdict"), [(0.7, "unstable"), (0.70710678, "unstable"), (0.70710679, "stable"), (1.0, "stable")]
)
def test_a_follower_is_string_stable_from_damping_one_over_root_two(damping: float, verdict: str) -> None:
    assert string_stability(resonance(damping)).verdict == verdict


@pytest.mark.parametrize(("tau", "verdict"), [("1/2", "stable"), ("501/1000", "unstable")])
def test_the_edge_itself_is_decided(tau: str, verdict: str) -> None:
    """1 / (s (tau s + 1)) closed: damping 1 / (2 sqrt(tau)), the edge at tau = 1/2."""
    hop = closed_loop([1], [Fraction(tau), 1, 0])
    assert string_stability([hop] * 5).verdict == verdict


def test_an_integrator_with_proportional_integral_control_always_amplifies() -> None:
    """Two integrators in the loop: the closed loop overshoots whatever the gains."""
    for gain in (0.1, 1, 10):
        assert string_stability(closed_loop([gain, 1], [1, 0, 0])).verdict == "unstable"


def test_a_hop_that_does_not_settle_is_unstable_and_has_no_gain() -> None:
    for hop in (
        Hop("x", (1,), (1, -1)),
        Hop("x", (1,), (1, 0)),
        Hop("x", (1,), (1, -1), step=1.0),
        Hop("x", (1,), (1, 0, 1)),
    ):
        assert unstable_poles(hop)
        assert string_stability(hop).verdict == "unstable"
        with pytest.raises(UsageError, match="does not settle"):
            peak(hop)


def test_unlike_hops_are_undecided_until_their_peak_is_asked() -> None:
    chain = [resonance(0.1), Hop("damp", (1,), (9, 1))]
    assert string_stability(chain).verdict == "undecided"
    top = peak(chain)
    grid = np.linspace(0, 3, 300_001)
    expected = np.abs(chain[0].at(grid) * chain[1].at(grid)).max()
    assert top.value == pytest.approx(expected, rel=1e-8)
    assert top.bound >= top.value
    assert growth(chain, top.frequency)[1] == pytest.approx(top.value, rel=1e-12)


def test_an_all_pass_neither_grows_nor_shrinks() -> None:
    hop = Hop("late", (-1, 1), (1, 1))
    assert string_stability(hop).verdict == "stable"
    assert peak(hop).value == pytest.approx(1)
    assert not passes_nothing_above(hop, Fraction(999, 1000))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=4),
    st.lists(st.integers(-9, 9), min_size=1, max_size=3),
    st.booleans(),
)
def test_no_grid_finds_more_than_the_proved_peak(top: list[int], poles: list[int], discrete: bool) -> None:
    assume(top[0] and len(top) <= len(poles) + 1)
    roots = [p / 10 if discrete else -abs(p) - 1 for p in poles]
    hop = Hop("h", tuple(map(float, top)), tuple(map(float, np.poly(roots))), step=1.0 if discrete else None)
    proved = peak(hop)
    grid = np.linspace(0, math.pi if discrete else 60, 20_001)
    assert np.abs(hop.at(grid)).max() <= proved.bound * (1 + 1e-9)
    assert math.isfinite(proved.bound)
    assert (string_stability(hop).verdict == "unstable") == (proved.value > 1 + 1e-12) or proved.value == pytest.approx(
        1
    )


def test_variance_and_amplitude_of_a_first_order_hop() -> None:
    hop = Hop("ar", (1, 0), (1, -0.5), step=1.0)
    assert variance_ratio(hop) == pytest.approx(1 / (1 - 0.25))
    assert amplitude_ratio(hop) == pytest.approx(2)
    assert variance_ratio(LAG) == pytest.approx(0.5)
    assert amplitude_ratio(LAG) == pytest.approx(1, rel=1e-6)
    assert variance_ratio(Hop("direct", (1, 2), (1, 1))) == math.inf
    step_overshoot = math.exp(-math.pi * 0.5 / math.sqrt(0.75))
    assert amplitude_ratio(resonance(0.5)) == pytest.approx((1 + step_overshoot) / (1 - step_overshoot), rel=1e-5)


# bullwhip


@pytest.mark.parametrize(("lead", "periods"), [(4, 5), (1, 1), (3, 8), (10, 2)])
def test_moving_average_forecast_in_closed_form_and_as_a_hop(lead: int, periods: int) -> None:
    closed, hop = moving_average(lead, periods), moving_average_hop(lead, periods)
    assert closed.variance_ratio == 1 + Fraction(2 * lead, periods) + 2 * Fraction(lead, periods) ** 2
    assert variance_ratio(hop) == pytest.approx(float(closed.variance_ratio), rel=1e-12)
    assert peak(hop).value == pytest.approx(float(closed.peak), rel=1e-12)


@pytest.mark.parametrize(("lead", "weight"), [(4, 0.3), (1, 1.0), (7, 0.05)])
def test_exponential_smoothing_in_closed_form_and_as_a_hop(lead: int, weight: float) -> None:
    closed, hop = exponential_smoothing(lead, weight), exponential_smoothing_hop(lead, weight)
    assert variance_ratio(hop) == pytest.approx(float(closed.variance_ratio), rel=1e-12)
    assert peak(hop).value == pytest.approx(float(closed.peak), rel=1e-12)
    assert peak([hop] * 4).value == pytest.approx(float(closed.peak) ** 4, rel=1e-12)


@pytest.mark.parametrize("correlation", [0.6, -0.4])
def test_correlated_demand_agrees_with_the_spectrum(correlation: float) -> None:
    """Variance as the mean over frequencies of |G|^2 times the spectrum of AR(1) demand."""
    w = np.linspace(0, math.pi, 200_001)
    spectrum = (1 - correlation**2) / (1 + correlation**2 - 2 * correlation * np.cos(w))
    for hop, closed in (
        (moving_average_hop(3, 4), moving_average(3, 4, correlation=correlation)),
        (exponential_smoothing_hop(3, 0.4), exponential_smoothing(3, 0.4, correlation=correlation)),
    ):
        values = np.abs(hop.at(w)) ** 2 * spectrum
        assert np.trapezoid(values, w) / math.pi == pytest.approx(float(closed.variance_ratio), rel=1e-8)


def test_shared_demand_grows_as_a_polynomial() -> None:
    found = shared_demand([2, 2, 2], 5)
    assert found == (Fraction(53, 25), Fraction(97, 25), Fraction(157, 25))
    alone = variance_ratio([moving_average_hop(2, 5)] * 3)
    assert alone > float(found[-1])


def test_variances_multiply_through_the_chain_only_if_noise_stays_white() -> None:
    hop = exponential_smoothing_hop(4, 0.3)
    rng = np.random.default_rng(1)
    wave = field([hop, hop], rng.normal(size=400_000))
    ratio = wave.values[100:, 2].var() / wave.values[100:, 0].var()
    assert ratio == pytest.approx(variance_ratio([hop, hop]), rel=0.02)
    assert variance_ratio([hop, hop]) > variance_ratio(hop) ** 2 * 1.05


# fields


def test_the_field_of_equal_lags_is_the_gamma_distribution() -> None:
    wave = field([Hop(f"tier {n}", (1,), (1, 1), delay=0.255) for n in range(3)], np.ones(1000), step=0.01)
    t = wave.time - 2 * 0.255
    late = np.maximum(t, 0)
    assert wave.tiers == ("input", "tier 0", "tier 1", "tier 2")
    assert wave.values[:, 2] == pytest.approx(1 - np.exp(-late) * (1 + late), abs=1e-9)


def test_a_field_at_the_worst_frequency_grows_by_the_peak_per_hop() -> None:
    hop = resonance(0.3)
    where = peak(hop)
    time = np.arange(20_000) * 0.01
    wave = field([hop] * 3, np.sin(where.frequency * time), step=0.01)
    late = wave.values[15_000:]
    ratios = np.abs(late[:, 1:]).max(axis=0) / np.abs(late[:, :-1]).max(axis=0)
    assert ratios == pytest.approx([where.value] * 3, rel=2e-3)


def test_a_discrete_field_is_the_recurrence() -> None:
    wave = field([Hop("a", (1, 0), (1, -0.5), delay=2, step=1.0)], [1, 0, 0, 0, 0, 0])
    assert wave.values[:, 1].tolist() == [0, 0, 1, 0.5, 0.25, 0.125]
    assert wave.arrivals.tolist() == [0, 2]
    with pytest.raises(UsageError, match="no multiple"):
        field([Hop("a", (1,), (1, -0.5), delay=0.5, step=1.0)], [1, 0])


def test_a_path_through_a_network_with_feedback() -> None:
    tiers = [Block(name, (1.0,), (1.0, 0.6, 1.0), 0.1) for name in ("edge", "api", "store")]
    chain = network(tiers, [Coupling("edge", "api"), Coupling("api", "store")])
    path = along(chain, ["edge", "api", "store"], tolerance=1e-7)
    own = peak(Hop("t", (1,), (1, 0.6, 1))).value
    assert path.verdict.verdict == "unstable"
    assert [tier.ratio for tier in path.tiers] == pytest.approx([own] * 3, rel=1e-6)
    broken = along(loop([3.0], [1.0, 0.0], delay=1.0), ["loop"])
    assert broken.verdict.verdict == "unstable"
    assert not broken.tiers


def test_the_field_of_a_network_without_feedback_is_that_of_its_chain() -> None:
    names = ("edge", "api", "store")
    chain = network(
        [Block(n, (1.0,), (1.0, 1.0), 0.255) for n in names], [Coupling("edge", "api"), Coupling("api", "store")]
    )
    pulse = np.where(np.arange(1500) < 200, 1.0, 0.0)
    open_loop = field([Hop(n, (1,), (1, 1), delay=0.255) for n in names], pulse, step=0.01)
    closed = closed_field(chain, names, pulse, step=0.01)
    assert closed.tiers == open_loop.tiers
    assert closed.values == pytest.approx(open_loop.values, abs=2e-3)
    assert closed.values[:, 2:] == pytest.approx(open_loop.values[:, 2:], abs=2e-5)


def test_the_field_of_a_delayed_loop_is_its_method_of_steps() -> None:
    """x' = 1 - x(t - 1): x = t, then t - (t - 1)^2 / 2, then + (t - 2)^3 / 6."""
    wave = closed_field(loop([1.0], [1.0, 0.0], delay=1.0), ["loop"], np.ones(600), step=0.01)
    t = wave.time  # the loop's own delay comes first
    late = np.maximum(t[:, None] - 1 - np.arange(6), 0)
    signs = [(-1) ** k / math.factorial(k + 1) for k in range(6)]
    exact = sum(sign * late[:, k] ** (k + 1) for k, sign in enumerate(signs))
    assert wave.values[:, 1] == pytest.approx(exact, abs=1e-3)
    with pytest.raises(UsageError, match="no field: the closed loop is unstable"):
        closed_field(loop([2.0], [1.0, 0.0], delay=1.0), ["loop"], np.ones(10), step=0.1)


# retries


def test_three_layers_of_four_attempts_are_64_tries() -> None:
    assert worst_case([4, 4, 4]) == 64
    assert retries([4, 4, 4], 1).tries == (4, 16, 64)
    assert worst_case([Layer(4, 0.1)] * 3) == Fraction(11, 10) ** 3


def test_retries_of_partial_failure() -> None:
    """Half of all tries fail, two attempts per layer: the last layer fails with 1/4, the one above with 1/16."""
    found = retries([2, 2], Fraction(1, 2))
    assert found.failures == (Fraction(1, 16), Fraction(1, 4))
    assert found.tries == (Fraction(5, 4), Fraction(5, 4) * Fraction(3, 2))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.floats(0.1, 0.9))
def test_retries_agree_with_throwing_dice(layers: list[int], failure: float) -> None:
    rng = np.random.default_rng(7)
    counted = 0

    def call(depth: int) -> bool:
        nonlocal counted
        if depth == len(layers):
            counted += 1
            return bool(rng.random() > failure)
        return any(call(depth + 1) for _ in range(layers[depth]))

    rounds = 1500
    failed = sum(not call(0) for _ in range(rounds)) / rounds
    expected = retries(layers, failure)
    assert counted / rounds == pytest.approx(expected.amplification, rel=0.2)
    assert failed == pytest.approx(expected.failures[0], abs=0.06)


# bursts


def test_a_burst_drains_at_the_spare_rate_of_the_slowest_tier() -> None:
    wave = burst([120, 110, 100], load=80, extra=1000, at=10, horizon=200)
    assert wave.cleared == pytest.approx((35, 10 + 1000 / 30, 60))
    assert wave.backlog([5, 10, 15, 60])[:, 0] == pytest.approx([0, 1000, 800, 0])
    assert wave.latency(100) == pytest.approx(10)
    assert wave.latency(10) == 0


def test_tail_latency_of_a_burst_against_requests_one_by_one() -> None:
    service, load, extra = [150.0, 90.0], 60.0, 400
    wave = burst(service, load=load, extra=extra, at=5, lasting=2, horizon=60)
    size = 1 / 50  # each unit request is split into fifty
    times = np.concatenate([np.arange(0, 60, size / load), 5 + np.arange(0, 2, 2 * size / extra)])
    times.sort()
    left = times.copy()
    for rate in service:
        done = 0.0
        for i, t in enumerate(left):
            done = max(done, t) + size / rate
            left[i] = done
    waits = left - times
    for q in (50, 90, 99, 99.9):
        assert wave.latency(q) == pytest.approx(np.percentile(waits, q), abs=0.02)


def test_a_tier_slower_than_the_load_is_refused() -> None:
    with pytest.raises(UsageError, match="never clears"):
        burst([100, 50], load=60, extra=10, horizon=10)


# cases with known answers


def _cases() -> list[Any]:
    return [case for case in yaml.safe_load(CASES.read_text())["cases"] if case["kind"] == "amplification"]


def measured(model: dict[str, Any]) -> dict[str, float]:
    if "attempts" in model:
        return {"worst_case": float(worst_case([model["attempts"]] * model["layers"]))}
    if "zeta" in model:
        return {"Hinf": peak(resonance(model["zeta"])).value}
    if "p" in model:
        closed, hop = moving_average(model["L"], model["p"]), moving_average_hop(model["L"], model["p"])
    else:
        closed, hop = (
            exponential_smoothing(model["L"], model["alpha"]),
            exponential_smoothing_hop(model["L"], model["alpha"]),
        )
    assert variance_ratio(hop) == pytest.approx(float(closed.variance_ratio), rel=1e-10)
    return {
        "variance_ratio": float(closed.variance_ratio),
        "Hinf": peak(hop).value,
        "Hinf_4_echelons": peak([hop] * 4).value,
    }


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_known_answers(case: dict[str, Any]) -> None:
    found = measured(case["model"])
    for name, expected in case["expected"].items():
        assert found[name] == pytest.approx(expected["value"], rel=expected["rtol"])


def test_hops_of_one_name_are_still_different_hops() -> None:
    """A hop that doubles and one that halves: whatever they are called, the chain as a whole is not decided."""
    double, half = Hop("hop", (2,), (1, 1)), Hop("hop", (Fraction(1, 2),), (1, 1))
    assert string_stability([double, half]).verdict == "undecided"
    assert string_stability([double, double]).verdict == "unstable"
    with pytest.raises(UsageError, match="without hops"):
        string_stability([])


@pytest.mark.parametrize(
    ("poles", "unstable"), [((-1, -2), 0), ((1, -2), 1), ((1, 2, -3), 2), ((0, -1), 1), ((3, 4, 5), 3), ((-1,), 0)]
)
def test_poles_right_of_the_axis_are_counted_exactly(poles: tuple[int, ...], unstable: int) -> None:
    assert unstable_poles(Hop("h", (1.0,), tuple(np.poly(poles).tolist()))) == unstable
    mirrored = Hop("h", (1.0,), tuple(np.poly([2.0 ** np.sign(p) for p in poles]).tolist()), step=1.0)
    assert unstable_poles(mirrored) == unstable
