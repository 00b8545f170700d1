"""What telemetry tells: effective sizes, periods and decays with intervals, gain and delay, aliases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from coherence.base.errors import UsageError
from coherence.loops.identification.aliasing import aliases, seen, share_after_averaging, warnings
from coherence.loops.identification.effective_samples import autoregression, effective_size, mean
from coherence.loops.identification.oscillation import Oscillation, Silence, oscillation
from coherence.loops.identification.response import response
from coherence.loops.identification.transient import ring_down
from tests.paths import DATA, read_yaml

CASES = DATA / "loops-numeric.yaml"


def drift(rng: np.random.Generator, count: int, phi: float) -> np.ndarray:
    """AR(1) of variance 1."""
    noise = rng.normal(size=count + 400) * math.sqrt(1 - phi * phi)
    return np.asarray(lfilter([1], [1, -phi], noise)[400:])


def swing(seed: int, count: int, period: float, decay: float, *, noise: float = 0.5, wander: float = 0.0) -> np.ndarray:
    """A loop shaken by noise, seen through noise, scraped once per second."""
    rng = np.random.default_rng(seed)
    r, angle = math.exp(-1 / decay), 2 * math.pi / period
    x = lfilter([1], [1, -2 * r * math.cos(angle), r * r], rng.normal(size=count + 3000))[3000:]
    return np.asarray(10 + x / x.std() + noise * rng.normal(size=count) + wander * drift(rng, count, 0.99))


def test_effective_size_of_ar1_in_closed_form_and_from_a_series() -> None:
    found = [effective_size(drift(np.random.default_rng(seed), 9500, 0.9)) for seed in range(30)]
    assert np.mean(found) == pytest.approx(500, rel=0.05)
    assert effective_size(np.random.default_rng(0).normal(size=5000)) == pytest.approx(5000, rel=0.15)


def test_alternating_values_are_worth_more_than_their_number() -> None:
    assert effective_size(drift(np.random.default_rng(3), 5000, -0.5)) == pytest.approx(15000, rel=0.15)


def test_burg_finds_the_order_and_the_coefficients() -> None:
    found = autoregression(lfilter([1], [1, -1.2, 0.6], np.random.default_rng(2).normal(size=20_000)))
    assert found.coefficients[:2] == pytest.approx((1.2, -0.6), abs=0.03)
    assert found.noise == pytest.approx(1, rel=0.03)


def test_means_hold_as_often_as_they_say() -> None:
    hits = sum(mean(drift(np.random.default_rng(seed), 1000, 0.8)).holds(0) for seed in range(200))
    assert 0.91 <= hits / 200 <= 0.985
    naive = [drift(np.random.default_rng(seed), 1000, 0.8) for seed in range(100)]
    assert sum(abs(x.mean()) <= 1.96 * x.std() / math.sqrt(1000) for x in naive) < 60


def test_period_and_decay_of_a_shaken_loop() -> None:
    mode = oscillation(swing(6, 3000, 20, 60), 15.0)
    assert isinstance(mode, Oscillation)
    assert mode.period.value == pytest.approx(300, rel=0.03)
    assert mode.period.holds(300)
    assert mode.decay_time.holds(900)
    assert mode.decay_time.high < 2000
    assert mode.amplitude == pytest.approx(1, rel=0.15)


@pytest.mark.slow
def test_intervals_of_oscillations_hold_as_often_as_they_say() -> None:
    answers = [oscillation(swing(seed, 1000, 20, 60, wander=seed % 2), 1.0) for seed in range(14)]
    assert all(isinstance(mode, Oscillation) for mode in answers)
    modes = [mode for mode in answers if isinstance(mode, Oscillation)]
    assert sum(mode.period.holds(20) for mode in modes) >= 12
    assert sum(mode.decay_time.holds(60) for mode in modes) >= 12
    assert np.median([mode.period.high - mode.period.low for mode in modes]) < 3


@pytest.mark.slow
def test_noise_and_drift_are_no_oscillation() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        series = drift(rng, 800, 0.9) + 0.3 * rng.normal(size=800) if seed % 2 else rng.normal(size=800)
        assert isinstance(oscillation(series, 1.0), Silence)
    assert isinstance(oscillation(np.ones(500), 1.0), Silence)


def test_a_transient_without_noise_is_found_exactly() -> None:
    k = np.arange(200)
    ring = ring_down(7 + 3 * np.exp(-k / 40) * np.cos(2 * math.pi * k / 17.5 + 0.4), 5.0)
    assert ring.period.value == pytest.approx(87.5, rel=1e-6)
    assert ring.decay_time.value == pytest.approx(200, rel=1e-6)
    assert ring.amplitude.value == pytest.approx(3, rel=1e-6)
    assert ring.level.value == pytest.approx(7, rel=1e-6)


@pytest.mark.slow
def test_intervals_of_transients_hold_as_often_as_they_say() -> None:
    k, hits = np.arange(200), np.zeros(2)
    for seed in range(20):
        series = (
            5 + 4 * np.exp(-k / 60) * np.cos(2 * math.pi * k / 20 + 1) + drift(np.random.default_rng(seed), 200, 0.5)
        )
        ring = ring_down(series, 1.0)
        hits += [ring.period.holds(20), ring.decay_time.holds(60)]
    assert (hits >= 17).all()


def test_a_growing_swing_has_a_negative_decay_time() -> None:
    k = np.arange(150)
    found = ring_down(np.exp(k / 50) * np.sin(k / 3) + 0.1 * drift(np.random.default_rng(1), 150, 0.3), 1.0)
    assert found.decay_time.value == pytest.approx(-50, rel=0.05)
    assert found.decay_time.low == -math.inf  # a rate interval below zero: growth, its time is not bounded by decay


def tier(u: np.ndarray, gain: float, delay: float, lag: float) -> np.ndarray:
    """Exact response of gain exp(-delay s) / (lag s + 1) to an input held for a second, by superposition of steps."""
    steps = np.diff(u, prepend=0.0)
    k = np.arange(len(u))
    late = k[:, None] - k[None, :] - delay
    return np.asarray(gain * (np.where(late > 0, -np.expm1(-np.maximum(late, 0) / lag), 0.0) @ steps))


@pytest.mark.parametrize(("gain", "delay", "lag"), [(2.0, 3.3, 4.0), (-0.5, 0.0, 10.0), (1.0, 7.75, 1.5)])
def test_gain_delay_and_lag_without_noise_are_found_exactly(gain: float, delay: float, lag: float) -> None:
    u = drift(np.random.default_rng(4), 400, 0.7)
    u -= u.mean()
    u[0] = 0.0
    u -= u.mean() * np.where(np.arange(400) > 0, 400 / 399, 0)
    fit = response(u, 3 + tier(u, gain, delay, lag), 1.0, most_delay=12)
    assert fit.gain.value == pytest.approx(gain, rel=1e-4)
    assert fit.delay.value == pytest.approx(delay, abs=1e-3)
    assert fit.time_constant.value == pytest.approx(lag, rel=1e-3)
    assert fit.fit > 0.999999


@pytest.mark.slow
def test_intervals_of_gain_and_delay_hold_as_often_as_they_say() -> None:
    hits = np.zeros(3)
    for seed in range(14):
        rng = np.random.default_rng(seed)
        u = drift(rng, 400, 0.7)
        u -= u.mean()
        y = 3 + tier(u, 2.0, 3.3, 4.0) + 0.7 * drift(rng, 400, 0.6)
        fit = response(u, y, 1.0, most_delay=10)
        hits += [fit.gain.holds(2.0), fit.delay.holds(3.3), fit.time_constant.holds(4.0)]
    assert (hits >= 11).all()


def test_what_cannot_be_identified_is_said() -> None:
    with pytest.raises(UsageError, match="never moves"):
        response(np.ones(50), np.arange(50), 1.0, most_delay=5)
    with pytest.raises(UsageError, match="at least 8"):
        mean([1, 2, 3])
    with pytest.raises(UsageError, match="finite"):
        mean([1, 2, 3, math.nan, 5, 6, 7, 8, 9])
    with pytest.raises(UsageError, match="constant"):
        ring_down(np.ones(50), 1.0)


# aliases


def test_a_period_of_the_scrape_interval_is_a_constant() -> None:
    assert seen(15, 15).period == math.inf
    assert seen(7.5, 15).period == math.inf
    assert seen(20, 15).period == pytest.approx(60)
    assert not seen(30, 15).aliased
    assert share_after_averaging(60, 60) == pytest.approx(0, abs=1e-12)
    assert share_after_averaging(60, 30) == pytest.approx(2 / math.pi)


@settings(max_examples=100, deadline=None)
@given(st.floats(3, 500), st.floats(1, 60))
def test_the_apparent_period_is_what_the_samples_show(period: float, interval: float) -> None:
    apparent = seen(period, interval).period
    k = np.arange(200)
    true = np.cos(2 * math.pi * k * interval / period)
    shown = np.ones(200) if math.isinf(apparent) else np.cos(2 * math.pi * k * interval / apparent)
    assert true == pytest.approx(shown, abs=1e-5)


@settings(max_examples=100, deadline=None)
@given(st.floats(5, 300), st.floats(1, 60))
def test_a_true_period_is_among_the_aliases_of_what_it_shows(period: float, interval: float) -> None:
    apparent = seen(period, interval).period
    if math.isfinite(apparent) and apparent < 1e6:
        found = aliases(apparent, interval, shortest=period * 0.999)
        assert min(abs(one / period - 1) for one in found) < 1e-6


def test_an_identified_alias_is_named() -> None:
    """A breaker of 10 s scraped every 15 s shows 30 s: the fit finds 30 s and the warning names the breaker."""
    time = np.arange(600) * 15.0
    rng = np.random.default_rng(1)
    wobble = np.cumsum(rng.normal(size=600)) * 0.1
    mode = oscillation(np.cos(2 * math.pi * time / 10.4 + wobble) + 0.3 * rng.normal(size=600), 15.0)
    assert isinstance(mode, Oscillation)
    apparent = seen(10.4, 15).period
    assert mode.period.value == pytest.approx(apparent, rel=0.02)
    hidden = warnings({"breaker": 10.4, "hpa": 300.0}, 15.0, apparent=mode.period.value)
    assert {warning.name for warning in hidden} == {"breaker"}
    assert "may be breaker's" in hidden[1].message


def test_fast_enough_scrapes_have_no_warning_and_long_averages_have() -> None:
    assert warnings({"hpa": 90.0}, 15.0) == ()
    assert "miss its peaks" in warnings({"hpa": 50.0}, 15.0)[0].message
    assert "keeps 41%" in warnings({"hpa": 90.0}, 15.0, window=60.0)[0].message


# cases with known answers


def _cases() -> list[Any]:
    return [case for case in read_yaml(CASES)["cases"] if case["kind"] == "identification"]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_known_answers(case: dict[str, Any]) -> None:
    phi, count, expected = case["model"]["phi"], case["model"]["n"], case["expected"]["n_eff"]
    assert count * (1 - phi) / (1 + phi) == pytest.approx(expected["value"], rel=expected["rtol"])
    found = [effective_size(drift(np.random.default_rng(seed), count, phi)) for seed in range(20)]
    assert np.mean(found) == pytest.approx(expected["value"], rel=expected["rtol"])


def test_units_of_what_comes_out_scale_the_gain_and_nothing_else() -> None:
    rng = np.random.default_rng(3)
    u = drift(rng, 400, 0.7)
    u -= u.mean()
    y = 3 + tier(u, 2.0, 3.3, 4.0) + 0.7 * drift(rng, 400, 0.6)
    large, small = (response(u, unit * y, 1.0, most_delay=10) for unit in (1.0, 1e-4))
    assert small.gain.value == pytest.approx(1e-4 * large.gain.value, rel=1e-3)
    assert (small.delay.low, small.delay.high) == pytest.approx((large.delay.low, large.delay.high), rel=1e-2)
