"""Sampled loops: verdicts, dominant roots, critical gains and contraction factors."""

from __future__ import annotations

import cmath
import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bench.references.recurrences import (
    companion,
    delayed_integrator,
    polynomial_verdict,
    root_radius_bound,
    spectral_radius_bound,
)
from coherence.base.polynomials import RootCount, characteristic_polynomial, count_roots
from coherence.loops.networks.sampled_verdict import SampledVerdict, dominant_root, stability, verdict
from tests.base.test_polynomials import Coefficients, product
from tests.draws import few


def kinds(result: SampledVerdict) -> tuple[bool | None, bool, bool]:
    return result.stable, result.marginal, result.unstable


STABLE, MARGINAL, UNSTABLE = (True, False, False), (None, True, False), (False, False, True)


# the replica autoscaler: a log-integrator of gain 1 that reads a metric d periods old


def test_without_delay_the_autoscaler_is_dead_beat() -> None:
    result = verdict(companion(delayed_integrator(1, 0)))
    assert kinds(result) == STABLE
    assert (result.modulus, result.angle, result.period, result.dead_beat) == (0, 0, None, 1)


def test_one_period_of_delay_is_exactly_marginal_with_period_six() -> None:
    result = verdict(companion(delayed_integrator(1, 1)))
    assert kinds(result) == MARGINAL
    assert result.counts == RootCount(0, 2, 0, False)
    assert result.modulus == 1
    assert result.period == pytest.approx(6, rel=1e-14)
    assert result.dead_beat is None


def test_two_periods_of_delay_grow() -> None:
    result = verdict(companion(delayed_integrator(1, 2)))
    assert kinds(result) == UNSTABLE
    assert result.counts == RootCount(1, 0, 2, False)
    assert round(result.modulus, 3) == 1.151
    assert result.modulus == pytest.approx(1.1509639, rel=1e-7)
    assert result.period == pytest.approx(8.9267832, rel=1e-8)


def test_delayed_integrator_is_its_recurrence() -> None:
    assert delayed_integrator(Fraction(1, 3), 0) == (Fraction(1), Fraction(-2, 3))
    assert delayed_integrator(Fraction(1, 3), 1) == (Fraction(1), Fraction(-1), Fraction(1, 3))
    assert delayed_integrator(Fraction(1, 3), 3) == tuple(Fraction(c) for c in ("1", "-1", "0", "0", "1/3"))
    with pytest.raises(ValueError, match=r"delay_steps\(=-1\)"):
        delayed_integrator(1, -1)


# critical gains, each bracketed by two exact verdicts


def edge(polynomial: Callable[[Fraction], Sequence[Fraction]], gain: float, rtol: float) -> SampledVerdict:
    """Exactly stable just below the gain, exactly unstable just above it; the verdict above."""
    below, above = (Fraction(gain) * (1 + sign * Fraction(rtol)) for sign in (-1, 1))
    assert kinds(polynomial_verdict(polynomial(below))) == STABLE
    result = polynomial_verdict(polynomial(above))
    assert kinds(result) == UNSTABLE
    return result


@pytest.mark.parametrize("delay", range(11))
def test_critical_gain_of_the_delayed_integrator(delay: int) -> None:
    gain = 2 * math.sin(math.pi / (2 * (2 * delay + 1)))
    result = edge(lambda k: delayed_integrator(k, delay), gain, 1e-9)
    assert result.period == pytest.approx(2 * (2 * delay + 1), rel=1e-7)


@pytest.mark.parametrize(("delay", "gain", "period"), [(1, 1.0, 6), (2, 0.6180339887, 10), (3, 0.4450418679, 14)])
def test_published_critical_gains(delay: int, gain: float, period: int) -> None:
    """SOURCE: Levin & May 1976, x[k+1] = x[k] - K x[k - d]."""
    result = edge(lambda k: delayed_integrator(k, delay), gain, 1e-8)
    assert result.period == pytest.approx(period, rel=1e-6)


@pytest.mark.parametrize(
    ("delay", "gain"),
    [
        (Fraction(1, 4), 4.0),
        (Fraction(1, 2), 2.0),
        (Fraction(1), 1.0),
        (Fraction(3, 2), 0.82842712),
        (Fraction(5, 2), 4 - 2 * 3**0.5),
    ],
)
def test_integrator_behind_a_hold_with_fractional_delay(delay: Fraction, gain: float) -> None:
    """exp(-s tau)/s behind a zero-order hold of one period, u = -k y: x' = x + (1 - f) u[k-d] + f u[k-d-1]."""
    whole, part = divmod(delay, 1)

    def loop(k: Fraction) -> Sequence[Fraction]:
        coefficients = [Fraction(1), Fraction(-1), *[Fraction(0)] * int(whole), Fraction(0)]
        coefficients[-2] += k * (1 - part)
        coefficients[-1] += k * part
        return coefficients

    edge(loop, gain, 1e-7)


def test_first_order_plant_behind_a_hold() -> None:
    """1/(s + 1), period 1: x' = a x + (1 - a) u with a = 1/e, critical at coth(1/2), where it alternates."""
    a = Fraction(math.exp(-1))
    result = edge(lambda k: (Fraction(1), k * (1 - a) - a), 2.1639534, 1e-7)
    assert result.period == 2


@pytest.mark.parametrize("places", [20, 60, 200])
def test_gains_that_no_float_tells_from_the_critical_one(places: int) -> None:
    below, above = (delayed_integrator(1 + Fraction(sign, 2**places), 1) for sign in (-1, 1))
    assert kinds(polynomial_verdict(below)) == STABLE
    assert kinds(polynomial_verdict(above)) == UNSTABLE
    assert root_radius_bound(below) < 1 < root_radius_bound(above)


# kinds of behaviour


@pytest.mark.parametrize(
    ("matrix", "expected", "dead_beat"),
    [
        ([], STABLE, 0),
        ([[0]], STABLE, 1),
        ([[0, 0], [0, 0]], STABLE, 1),
        ([[0, 1], [0, 0]], STABLE, 2),
        ([[2, -4], [1, -2]], STABLE, 2),
        ([[1, 0], [0, 1]], MARGINAL, None),
        ([[1, 1], [0, 1]], UNSTABLE, None),
        ([[-1, 0], [0, -1]], MARGINAL, None),
        ([[0, -1], [1, 0]], MARGINAL, None),
        ([[Fraction(1, 2), 100], [0, Fraction(1, 2)]], STABLE, None),
        ([[2, 0], [0, Fraction(1, 2)]], UNSTABLE, None),
    ],
)
def test_small_matrices(
    matrix: list[list[Fraction]], expected: tuple[bool | None, bool, bool], dead_beat: int | None
) -> None:
    result = verdict(matrix)
    assert kinds(result) == expected
    assert result.dead_beat == dead_beat
    assert stability(matrix) == (expected[0], result.counts)


def test_a_recurrence_with_a_repeated_root_on_the_circle_grows() -> None:
    assert kinds(polynomial_verdict((1, -2, 1))) == UNSTABLE
    assert kinds(polynomial_verdict(product((1, 0, 1), (1, 0, 1)))) == UNSTABLE
    assert kinds(polynomial_verdict(product((1, 0, 1), (1, -1)))) == MARGINAL


def test_two_equal_marginal_loops_apart_stay_marginal_and_coupled_grow() -> None:
    apart = [
        [Fraction(1), Fraction(-1), Fraction(0), Fraction(0)],
        [Fraction(1), Fraction(0), Fraction(0), Fraction(0)],
        [Fraction(0), Fraction(0), Fraction(1), Fraction(-1)],
        [Fraction(0), Fraction(0), Fraction(1), Fraction(0)],
    ]
    assert kinds(verdict(apart)) == MARGINAL
    coupled = [list(row) for row in apart]
    coupled[2][0] = Fraction(1, 1000)
    assert kinds(verdict(coupled)) == UNSTABLE


@pytest.mark.parametrize(
    ("coefficients", "period"),
    [
        ((1, Fraction(-1, 2)), None),
        ((1, Fraction(1, 2)), 2),
        ((1, 0, Fraction(1, 4)), 4),
        ((1, Fraction(-9, 10), Fraction(81, 100)), 6),
        ((1, -1, -1), None),
        ((1, 1, -1), 2),
        ((1, 0, 0, 0, -1), 4),
        (product((1, -1), (1, 1)), 2),
    ],
)
def test_periods_in_steps(coefficients: Sequence[Fraction], period: float | None) -> None:
    result = polynomial_verdict(coefficients).period
    assert result is None if period is None else result == pytest.approx(period, rel=1e-14)


def test_a_slow_oscillation_is_not_taken_for_a_real_root() -> None:
    angle = Fraction(1, 10**9)  # (z - 0.9)^2 + (0.9 angle)^2, to first order 0.9 exp(+-i angle)
    result = polynomial_verdict((1, Fraction(-18, 10), Fraction(81, 100) * (1 + angle**2)))
    assert result.angle == pytest.approx(1e-9, rel=1e-9)
    assert result.period == pytest.approx(2 * math.pi * 1e9, rel=1e-9)


def test_dominant_root_of_clustered_roots() -> None:
    """Forty real roots 0.60, 0.61, ..., 0.99: floating point puts the largest at 1.03, off the real axis."""
    polynomial = product(*((1, -Fraction(60 + k, 100)) for k in range(40)))
    assert max(abs(np.roots([float(c) for c in polynomial]))) > 1
    result = polynomial_verdict(polynomial)
    assert kinds(result) == STABLE
    assert (result.modulus, result.period) == (0.99, None)


def test_dominant_root_hidden_in_a_cluster_of_pairs() -> None:
    def pair(size: Fraction, angle: float) -> Coefficients:
        return Fraction(1), -2 * size * Fraction(math.cos(angle)), size**2

    close = product(
        pair(Fraction(9, 10), 1.0), pair(Fraction(9, 10), 1.000001), pair(Fraction(9000001, 10**7), 1.0000005)
    )
    root = dominant_root(close)
    assert float(root.modulus) == pytest.approx(0.9000001, rel=1e-15)
    assert root.angle == pytest.approx(1.0000005, rel=1e-14)


@pytest.mark.parametrize("exponent", [-400, -30, 30, 400])
def test_roots_of_any_size(exponent: int) -> None:
    size = Fraction(10) ** exponent
    result = polynomial_verdict(product((1, -size), (1, size / 10)))
    assert result.modulus == pytest.approx(float(size) if exponent < 300 else math.inf, rel=1e-15)
    assert kinds(result) == (STABLE if exponent < 0 else UNSTABLE)


# laws

fractions = st.fractions(min_value=-2, max_value=2, max_denominator=20)
polynomials = st.lists(fractions, min_size=1, max_size=12).map(lambda tail: (Fraction(1), *tail))
matrices = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(fractions, min_size=n, max_size=n), min_size=n, max_size=n)
)


@pytest.mark.slow
@given(polynomials)
@settings(max_examples=few(60), deadline=None)
def test_dominant_root_is_a_root_and_none_is_larger(polynomial: Coefficients) -> None:
    root = dominant_root(polynomial)
    z = cmath.rect(float(root.modulus), root.angle)
    sizes = [abs(c) * abs(z) ** (len(polynomial) - 1 - k) for k, c in enumerate(polynomial)]
    assert abs(np.polyval([float(c) for c in polynomial], z)) <= 1e-12 * float(sum(sizes))
    counts = count_roots(polynomial)
    assert (counts.outside > 0) == (root.modulus > 1 + Fraction(1, 10**20))


@given(matrices)
@settings(max_examples=few(50), deadline=None)
def test_bound_is_certified_and_close(matrix: list[list[Fraction]]) -> None:
    bound, result = spectral_radius_bound(matrix), verdict(matrix)
    assert (bound < 1) == (result.counts.on == result.counts.outside == 0)
    assert (bound == 1) == (result.counts.outside == 0 < result.counts.on)
    assert result.modulus <= float(bound) * (1 + 1e-15)
    assert float(bound) <= result.modulus * (1 + 1.1e-6)
    eigenvalues = np.linalg.eigvals(np.array(matrix, dtype=float))
    assert max(abs(eigenvalues)) <= float(bound) * 1.01 + 0.01


@pytest.mark.slow
@given(matrices, st.sampled_from([Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**12)]))
@settings(max_examples=few(40), deadline=None)
def test_tolerance_of_the_bound(matrix: list[list[Fraction]], tolerance: Fraction) -> None:
    bound = spectral_radius_bound(matrix, tolerance=tolerance)
    exact = dominant_root(characteristic_polynomial(matrix)).modulus
    assert exact * (1 - Fraction(1, 10**20)) <= bound
    assert bound * (1 - tolerance) <= exact * (1 + Fraction(1, 10**20))


@pytest.mark.slow
@given(matrices)
@settings(max_examples=few(50), deadline=None)
def test_the_verdict_foretells_the_run(matrix: list[list[Fraction]]) -> None:
    result = verdict(matrix)
    assume(abs(result.modulus - 1) > 0.2 or result.dead_beat is not None)
    power = np.linalg.matrix_power(np.array(matrix, dtype=float), 256)
    assert (abs(power).max() < 1e-10) == (result.stable is True)
    assert (abs(power).max() > 1e10) == result.unstable
    assert stability(matrix) == (result.stable, result.counts)


@given(matrices.flatmap(lambda m: st.tuples(st.just(m), st.permutations(range(len(m))))))
@settings(max_examples=few(40), deadline=None)
def test_the_order_of_the_states_does_not_matter(case: tuple[list[list[Fraction]], list[int]]) -> None:
    matrix, order = case
    assert verdict([[matrix[i][j] for j in order] for i in order]) == verdict(matrix)


@given(matrices, st.integers(1, 40))
@settings(max_examples=few(30), deadline=None)
def test_dead_beat_is_the_first_vanishing_power(matrix: list[list[Fraction]], scale: int) -> None:
    upper = [[a * scale if j > i else Fraction(0) for j, a in enumerate(row)] for i, row in enumerate(matrix)]
    steps = verdict(upper).dead_beat
    powers = [np.linalg.matrix_power(np.array(upper, dtype=object), k).any() for k in range(1, len(upper) + 1)]
    assert steps == 1 + sum(map(bool, powers))


def test_a_verdict_on_a_long_delay_line_takes_a_second_at_most() -> None:
    begin = time.process_time()
    result = verdict(companion(delayed_integrator(Fraction(1, 50), 62)))
    assert time.process_time() - begin < 2
    assert kinds(result) == STABLE
    assert result.counts == RootCount(63, 0, 0, False)
