"""Peaks of sampled closed loops against closed forms and dense grids."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.checks import _groups, _responses
from coherence.loops.checks._responses import FrequencyResponse, bounded, peak, squared
from tests.draws import few

LAP = Fraction(15)
SMALL = st.fractions(min_value=-3, max_value=3, max_denominator=8)


def sensitivity(signal: str, *, period: int = 15) -> tuple[FrequencyResponse, Fraction]:
    text = f"""coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: {period} s}}
    target: {{signal: "{signal}", setpoint: 0.5, tolerance: 10 %}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 100000], from: 190}}
"""
    (group,) = _groups.groups(subject := Subject(read_text(text, "x.yaml"), {"x.yaml": text}))
    linear = _groups.linear_at(subject, group)
    assert linear is not None
    model, noise, seen = _responses.disturbed(group.model, group.loops[0])
    found = _responses.system(model, noise, [seen], {**linear.point, noise: Fraction(0), seen: Fraction(0)})
    assert found is not None
    return _responses.response(found, seen), found.lap


def test_a_dead_beat_loop_doubles_the_fastest_swing_and_no_more() -> None:
    found, lap = sensitivity("web.usage")
    top = peak(found, lap)
    assert top is not None
    assert top.low == 2
    assert top.high <= 2.000002
    assert top.period == 30


@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_the_sensitivity_of_a_mean_over_several_decisions(window: int) -> None:
    """1 / (1 + L), L = (1 + z^-1 + ... ) / window / (z - 1)."""
    found, _ = sensitivity(f"mean_over(web.usage, {15 * window} s)")
    for angle in (0.1, 0.7, 1.3, 2.0, 3.0):
        z = cmath.exp(1j * angle)
        loop = sum(z**-k for k in range(window)) / window / (z - 1)
        assert abs(found.at(angle)) == pytest.approx(abs(1 / (1 + loop)), rel=1e-9)


@pytest.mark.parametrize("window", [2, 3])
def test_the_peak_is_enclosed(window: int) -> None:
    found, lap = sensitivity(f"mean_over(web.usage, {15 * window} s)")
    top = peak(found, lap)
    assert top is not None
    dense = max(abs(found.at(math.pi * k / 20_000)) for k in range(20_001))
    assert top.low * (1 - 1e-9) <= dense * (1 + 1e-6)
    assert dense <= top.high
    assert top.high / top.low < 1 + 1e-5


@given(st.lists(SMALL, min_size=1, max_size=6), st.floats(0, math.pi))
@settings(max_examples=few(80), deadline=None)
def test_squares_on_the_circle_are_polynomials_in_the_cosine(p: list[Fraction], angle: float) -> None:
    z = cmath.exp(1j * angle)
    size = abs(sum(float(c) * z ** (len(p) - 1 - k) for k, c in enumerate(p))) ** 2
    square = squared(p)
    found = sum(float(c) * math.cos(angle) ** (len(square) - 1 - k) for k, c in enumerate(square))
    assert found == pytest.approx(size, rel=1e-6, abs=1e-6)


@pytest.mark.slow
@given(st.lists(SMALL, min_size=1, max_size=5), st.lists(SMALL, min_size=1, max_size=5), st.integers(1, 40))
@settings(max_examples=few(100), deadline=None)
def test_a_proved_bound_is_one(above: list[Fraction], below: list[Fraction], limit: int) -> None:
    over, under = squared(above), squared(below)
    holds = bounded(over, under, Fraction(limit))
    points = [Fraction(k, 50) for k in range(-50, 51)]
    below_everywhere = all(_at(over, x) < limit * _at(under, x) for x in points)
    assert below_everywhere or not holds


def _at(p: list[Fraction], x: Fraction) -> Fraction:
    total = Fraction(0)
    for c in p:
        total = total * x + c
    return total


@pytest.mark.slow
@given(st.lists(SMALL, min_size=1, max_size=4), st.lists(SMALL, min_size=2, max_size=4))
@settings(max_examples=few(60), deadline=None)
def test_the_peak_bounds_every_frequency(above: list[Fraction], below: list[Fraction]) -> None:
    assume(any(above) and below[0])
    grid = [math.pi * k / 300 for k in range(301)]
    found = FrequencyResponse(above, below)
    sizes = [abs(_value(below, w)) for w in grid]
    assume(min(sizes) > 1e-3)
    top = peak(found, LAP)
    if top is not None:
        assert max(abs(found.at(w)) for w in grid) <= top.high * (1 + 1e-9)
        assert top.low <= top.high


def _value(p: list[Fraction], angle: float) -> complex:
    z = cmath.exp(1j * angle)
    return sum((float(c) * z ** (len(p) - 1 - k) for k, c in enumerate(p)), 0j)
