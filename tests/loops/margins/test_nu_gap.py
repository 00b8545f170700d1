"""The distance of two loops beside a grid of frequencies, closed forms, and the roots of what is certified."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from coherence.loops.margins.nu_gap import NuGap, nu_gap
from coherence.loops.multirate.opened_lap import OpenedLap

Array = np.ndarray[Any, np.dtype[np.float64]]


def loop(gain: float, delay: int, *, memory: float = 1.0, period: int = 15) -> OpenedLap:
    """Returns L of the law w+ = memory w + gain v whose command acts after a delay, in negative feedback."""
    size = 1 + delay
    a, b, c = np.zeros((size, size)), np.zeros((size, 1)), np.zeros((1, size))
    a[0, 0], b[0, 0] = memory, 1.0
    for k in range(delay):
        a[k + 1, k] = 1.0
    c[0, -1] = -gain
    return OpenedLap(a, b, c, np.zeros((1, 1)), Fraction(period))


def is_stable(lap: OpenedLap) -> bool:
    """Decides by the eigenvalues of the closed lap."""
    return bool(np.abs(np.linalg.eigvals(lap.a + lap.b @ lap.c)).max() < 1 - 1e-12)


def on_grid(first: OpenedLap, second: OpenedLap) -> tuple[float, float]:
    """Returns distance and margin by the textbook's formulas of P at many frequencies."""
    z = np.exp(1j * np.linspace(1e-4, np.pi, 3000))[:, None, None]

    def plant(lap: OpenedLap) -> Any:
        return -(lap.c @ np.linalg.solve(z * np.eye(len(lap.a)) - lap.a, lap.b.astype(complex)) + lap.d)[:, 0, 0]

    one, other = plant(first), plant(second)
    sizes = 1 + abs(one) ** 2, 1 + abs(other) ** 2
    distance = (abs(one - other) / np.sqrt(sizes[0] * sizes[1])).max()
    return float(distance), float((abs(1 + one) / np.sqrt(2 * sizes[0])).min())


@pytest.mark.parametrize("gains", [(0.2, 0.3), (0.3, 0.25), (0.1, 0.5)])
@pytest.mark.parametrize("delays", [(0, 0), (1, 2), (3, 1)])
def test_distance_and_margin_are_those_of_a_grid(gains: tuple[float, float], delays: tuple[int, int]) -> None:
    first, second = (loop(gain, delay) for gain, delay in zip(gains, delays, strict=True))
    gap, (distance, margin) = nu_gap(first, second), on_grid(first, second)
    assert distance - 1e-6 <= gap.bound <= distance * 1.02 + 1e-4
    assert margin / 1.02 <= gap.margin <= margin + 1e-6


def test_a_loop_without_memory_has_the_chordal_distance_of_its_gains() -> None:
    def static(gain: float) -> OpenedLap:
        return OpenedLap(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.array([[-gain]]), Fraction(15))

    gap = nu_gap(static(1.0), static(2.0))
    assert gap.bound == pytest.approx(1 / math.sqrt(2 * 5), rel=0.01)
    assert gap.margin == pytest.approx(2 / math.sqrt(2 * 2), rel=0.01)
    assert gap.certified


def test_a_loop_that_oscillates_is_never_certified() -> None:
    gap = nu_gap(loop(0.35, 1), loop(1.2, 1))
    assert not is_stable(loop(1.2, 1))
    assert not gap.certified
    assert nu_gap(loop(1.2, 1), loop(0.35, 1)).margin == 0.0, "of what is not stable there is no margin"


def test_the_winding_condition_is_asked() -> None:
    """A pole outside of the circle that the other one does not have: close at each frequency, and far apart."""
    gap = nu_gap(loop(0.5, 0, memory=0.99), loop(0.5, 0, memory=-1.5))
    assert gap.bound == 1.0
    assert "winding" in gap.reason or not gap.certified
    near = nu_gap(loop(0.5, 0, memory=0.999), loop(0.5, 0, memory=1.001))
    assert near.certified, "a pole that crosses the circle while the loop stays as it is"


def test_other_periods_are_not_compared() -> None:
    gap = nu_gap(loop(0.2, 1), loop(0.2, 1, period=30))
    assert (gap.bound, gap.certified) == (1.0, False)


def test_a_hidden_mode_that_grows_is_not_certified() -> None:
    second = loop(0.2, 1)
    hidden = np.zeros((3, 3))
    hidden[:2, :2], hidden[2, 2] = second.a, 1.5
    lap = OpenedLap(hidden, np.vstack([second.b, [[0.0]]]), np.hstack([second.c, [[0.0]]]), second.d, second.period)
    assert nu_gap(loop(0.2, 1), second).certified
    assert not nu_gap(loop(0.2, 1), lap).certified


def _pair(rng: np.random.Generator) -> tuple[OpenedLap, OpenedLap]:
    gain, delay = rng.uniform(0.05, 0.7), int(rng.integers(0, 4))
    other = gain * math.exp(rng.normal(0, 0.3))
    return loop(gain, delay), loop(other, max(0, delay + int(rng.integers(-1, 2))))


def _refuted(gap: NuGap, first: OpenedLap, second: OpenedLap) -> bool:
    """Decides whether a certificate is wrong: of what is not stable, or of a margin that is not there."""
    if not gap.certified:
        return False
    return not is_stable(second) or nu_gap(second, first).margin * 1.01 < gap.margin_left


@pytest.mark.slow
def test_no_certificate_is_wrong_and_most_pairs_have_one() -> None:
    rng = np.random.default_rng(7)
    pairs = [pair for pair in (_pair(rng) for _ in range(120)) if is_stable(pair[0])]
    gaps = [nu_gap(*pair) for pair in pairs]
    assert not any(_refuted(gap, *pair) for gap, pair in zip(gaps, pairs, strict=True))
    both = [gap for gap, (_, second) in zip(gaps, pairs, strict=True) if is_stable(second)]
    assert sum(gap.certified for gap in both) >= 0.7 * len(both)
