"""Limited information: no loop that is run beats the floors of delay, data rate, Bode's integral, age and sampling."""

from __future__ import annotations

import cmath
import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.minimums.bounds._limited import characteristic, largest_gain, largest_radius, stable
from coherence.minimums.floors import at
from coherence.minimums.registry import entry
from tests.draws import few

POINTS = np.exp(1j * np.linspace(0, 2 * np.pi, 4097)[:-1])


def floor(name: str, **inputs: object) -> float:
    return float(at(entry(name).bound, inputs))  # type: ignore[arg-type]


@given(delay=st.integers(0, 12), share=st.fractions(Fraction(1, 100), Fraction(3)))
@settings(max_examples=60, deadline=None)
def test_a_delayed_loop_is_stable_exactly_below_its_largest_gain(delay: int, share: Fraction) -> None:
    edge = floor("delay_gain_sampled", delay=Fraction(delay))
    assume(abs(share - 1) > Fraction(1, 10**6))
    weights = (*[Fraction(0)] * delay, Fraction(1))
    assert stable(weights, share * Fraction(edge)) == (share < 1)


@given(delay=st.integers(0, 6), above=st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_run_decays_below_the_largest_gain_and_grows_above_it(delay: int, above: bool) -> None:
    gain = floor("delay_gain_sampled", delay=Fraction(delay)) * (1.05 if above else 0.95)
    past = [1.0] + [0.0] * delay
    sizes = []
    for _ in range(60 * (delay + 1) ** 2):
        past.append(past[-1] - gain * past[-1 - delay])
        sizes.append(abs(past[-1]))
    half = len(sizes) // 2
    assert (max(sizes[half:]) > max(sizes[:half])) == above


@given(weights=st.lists(st.fractions(0, 1, max_denominator=20), min_size=1, max_size=7))
@settings(max_examples=few(30), deadline=None)
def test_the_largest_gain_of_any_window_has_exact_counts_on_both_sides(weights: list[Fraction]) -> None:
    assume(sum(weights) > 0)
    low, high = largest_gain(weights)
    assert stable(weights, low)
    assert not stable(weights, high)
    assert float(high - low) <= 2e-9 * float(high)
    for share in (0.1, 0.4, 0.7, 0.95):
        radius = largest_radius([float(w) for w in weights], float(low) * share)
        assert radius < 1, "no smaller gain is lost"


def test_weights_on_older_readings_can_raise_the_largest_gain() -> None:
    """Hence a dead time alone is no bound on the gain of a loop whose sensor has weights behind it."""
    assert floor("sampled_gain", weights=(Fraction(2, 3), Fraction(1, 3))) > floor("delay_gain_sampled", delay=0) + 0.9


def test_the_edge_of_stability_is_refused_where_there_is_none() -> None:
    with pytest.raises(UsageError, match="sum of weights"):
        floor("sampled_gain", weights=(Fraction(1), Fraction(-1)))
    with pytest.raises(UsageError, match="1 to 400 weights"):
        floor("sampled_gain", weights=())


def test_the_characteristic_polynomial_is_that_of_the_loop() -> None:
    assert characteristic((Fraction(1, 2), Fraction(1, 4)), Fraction(2)) == [1, 0, Fraction(1, 2)]


@given(growth=st.fractions(Fraction(11, 10), Fraction(6)), words=st.integers(1, 6), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_a_coder_with_too_few_words_loses_the_plant(growth: Fraction, words: int, seed: int) -> None:
    """However the words are placed: with fewer than `growth` of them the interval of possible states grows."""
    bits = floor("data_rate", eigenvalues=(growth,)) * 8
    draws = random.Random(seed)  # noqa: S311  (a seeded run)
    cuts = sorted([-1.0, 1.0, *(draws.uniform(-1, 1) for _ in range(words - 1))])
    widest = max(b - a for a, b in itertools.pairwise(cuts))
    if math.log2(words) < bits - 1e-12:
        assert float(growth) * widest > 2, "the widest cell is stretched beyond the interval"
    equal = float(growth) * 2 / words
    assert (equal <= 2 + 1e-12) == (math.log2(words) >= bits - 1e-9)


def test_complex_and_stable_eigenvalues_of_the_data_rate() -> None:
    assert floor("data_rate", eigenvalues=(1 + 1j, 1 - 1j)) * 8 == pytest.approx(1.0)
    assert floor("data_rate", eigenvalues=(0.5, -0.9)) == 0
    with pytest.raises(UsageError, match="finite"):
        floor("data_rate", eigenvalues=(math.inf,))


@given(pole=st.floats(0.05, 2.0), reach=st.floats(0.05, 0.7), share=st.floats(0.1, 0.9))
@settings(max_examples=60, deadline=None)
def test_every_loop_around_an_unstable_pole_with_delay_peaks_above_the_floor(
    pole: float, reach: float, share: float
) -> None:
    """A gain on 1/(s - p) behind a delay: stable gains reach from p to the crossing frequency's sqrt(p^2 + w^2)."""
    delay = reach / pole
    low, high = 0.0, math.pi / 2 / delay
    for _ in range(80):  # tan(w tau) = w/p: where the phase is -180 degrees
        w = (low + high) / 2
        low, high = (w, high) if math.tan(w * delay) < w / pole else (low, w)
    gain = pole + share * (math.hypot(pole, low) - pole)
    frequencies = np.concatenate([[0.0], np.geomspace(1e-3 * pole, 1e3 / delay, 6000)])
    loop = gain * np.exp(-1j * frequencies * delay) / (1j * frequencies - pole)
    peak = float(np.max(np.abs(loop / (1 + loop))))
    assert peak >= floor("unstable_pole_peak", pole=pole, delay=delay) * (1 - 1e-6)


@given(pole=st.floats(0.0, 3.0), extra=st.floats(0.05, 0.95), level=st.floats(0.2, 1.0))
@settings(max_examples=60, deadline=None)
def test_the_sensitivity_of_a_sampled_loop_peaks_above_the_floor(pole: float, extra: float, level: float) -> None:
    """A plant 1/(z - a) under every gain k with |a - k| < 1: S = (z - a)/(z - a + k)."""
    assume(abs(pole - 1) > 0.02)
    gain = pole + 2 * extra - 1
    size = np.abs((POINTS - pole) / (POINTS - pole + gain))
    share = float(np.mean(size <= level))
    assume(share < 0.98)
    growth = max(1.0, pole)
    assert float(np.max(size)) >= floor("bode_sampled", growth=growth, share=share, level=level) * (1 - 5e-3)


@given(pole=st.floats(0.1, 2.0), more=st.floats(1.05, 8.0))
@settings(max_examples=40, deadline=None)
def test_bodes_integral_of_a_loop_that_rolls_off_is_pi_times_its_poles(pole: float, more: float) -> None:
    """1/(s - p) under k/(s/w + 1), both roots stable: the integral by quadrature, and a band inside it."""
    from scipy.integrate import quad

    fast = 20 * pole * more
    gain = more * pole

    def size(w: float) -> float:
        s = 1j * w
        loop = gain / ((s - pole) * (s / fast + 1))
        return abs(1 / (1 + loop))

    whole = quad(lambda w: math.log(size(w)), 0, fast, limit=400)[0]
    whole += quad(lambda w: math.log(size(w)), fast, math.inf, limit=400)[0]
    assert whole == pytest.approx(math.pi * pole, rel=1e-3)


@given(
    a11=st.floats(0.1, 2),
    a22=st.floats(-5, -0.1),
    a12=st.floats(0.1, 3),
    more=st.floats(0.01, 9),
    e=st.floats(0.01, 20),
)
@settings(max_examples=80, deadline=None)
def test_two_time_scales_are_stable_exactly_below_the_edge(
    a11: float, a22: float, a12: float, more: float, e: float
) -> None:
    a21 = (a11 * a22 - more) / a12
    edge = floor("time_scale_separation", a11=a11, a12=a12, a21=a21, a22=a22)
    assume(abs(e / edge - 1) > 1e-6)
    roots = np.linalg.eigvals(np.array([[a11, a12], [a21 / e, a22 / e]]))
    assert (max(roots.real) < 0) == (e < edge)


@given(load=st.floats(0.15, 0.85), seed=st.integers(0, 20))
@settings(max_examples=few(8), deadline=None, derandomize=True)
def test_readings_behind_a_queue_are_as_old_as_said_and_never_younger_than_the_least(load: float, seed: int) -> None:
    draws = random.Random(seed)  # noqa: S311  (a seeded run)
    now = done = area = 0.0
    for _ in range(60_000):
        gap = draws.expovariate(load)
        now += gap
        done = max(done, now) + draws.expovariate(1.0)
        area += gap * (done - now) + gap * gap / 2
    measured = area / now
    assert measured == pytest.approx(floor("age_of_information", load=load, mean=1), rel=0.12)
    assert measured >= floor("age_least", mean=1) * 0.9
    assert floor("age_of_information", load=load, mean=1) >= floor("age_least", mean=1) - 1e-12


def test_the_best_load_is_where_the_age_is_least() -> None:
    best = floor("age_best_load")
    least = floor("age_of_information", load=best, mean=1)
    assert all(floor("age_of_information", load=best + d, mean=1) > least for d in (-0.05, -0.01, 0.01, 0.05))


@given(
    period=st.fractions(1, 60, max_denominator=4),
    scrape=st.fractions(1, 60, max_denominator=4),
    window=st.fractions(1, 300, max_denominator=4),
    seed=st.integers(0, 9),
)
@settings(max_examples=few(30), deadline=None, derandomize=True)
def test_what_a_loop_acts_on_is_as_old_as_said(period: Fraction, scrape: Fraction, window: Fraction, seed: int) -> None:
    """Looked at from random times: the last decision, what was scraped then, and a value inside the window."""
    draws = random.Random(seed)  # noqa: S311  (a seeded run)
    ages = []
    loop, sampler = draws.uniform(0, float(period)), draws.uniform(0, float(scrape))
    for _ in range(4000):
        now = draws.uniform(1e5, 2e5)
        decided = loop + (now - loop) // float(period) * float(period)
        sampler += (math.sqrt(5) - 2) * float(scrape)  # phases that nobody aligns
        scraped = sampler + (decided - sampler) // float(scrape) * float(scrape)
        ages.append(now - scraped + draws.uniform(0, float(window)))
    mean = floor("reading_age_mean", chain=(scrape + window) / 2, period=period)
    longest = floor("reading_age_longest", chain=scrape + window, period=period)
    assert max(ages) <= longest + Fraction(1, 10**6)
    assert sum(ages) / len(ages) == pytest.approx(mean, rel=0.05)


@given(period=st.floats(1, 100), share=st.floats(0.51, 0.98))
@settings(max_examples=40, deadline=None)
def test_an_oscillation_read_too_seldom_has_the_readings_of_a_slower_one(period: float, share: float) -> None:
    h = period * share
    assert h >= floor("sampling_period", oscillation=period)
    slower = 1 / abs(1 / h - 1 / period)
    assert slower >= period * (1 - 1e-9)
    for k in range(20):
        one, other = cmath.exp(2j * math.pi * k * h / period), cmath.exp(2j * math.pi * k * h / slower)
        assert abs(one.real - other.real) < 1e-6
