"""Picks simple rationals out of intervals, exactly."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10

_RARE = Fraction(1, 30)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """Returns the fraction of least denominator in [low, high] (then nearest to 0).

    SOURCE: Stern-Brocot tree, as a continued fraction: Graham, Knuth, Patashnik, Concrete Mathematics, 4.5.
    """
    if low > high:
        raise ValueError(f"[{low}, {high}] is empty")
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest(-high, -low)
    whole = floor(low)
    if whole == low or ceil(low) <= high:
        return Fraction(ceil(low))
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def roundest(low: Fraction, high: Fraction) -> Fraction:
    """Returns the multiple in [low, high] of the largest 5 * 10^k or 10^k that has one; 0 if it is inside."""
    if low <= 0 <= high:
        return Fraction(0)
    width = high - low
    if width <= 0:
        return simplest(low, high)
    exponent = ceil(log10(max(abs(low), abs(high)))) + 1
    while True:
        for pitch in (5 * Fraction(10) ** exponent, Fraction(10) ** exponent):
            multiple = ceil(low / pitch) * pitch
            if multiple <= high:
                return multiple
        exponent -= 1


def striking(value: Fraction, low: Fraction, high: Fraction) -> bool:
    """Decides whether it would be a coincidence that so simple a number as `value` lies in [low, high].

    An interval of width w meets multiples of a pitch with probability w / pitch, and fractions of a
    denominator of at most q with about w q^2.
    """
    width = high - low
    return value == 0 or width * value.denominator**2 < _RARE or width < _RARE * _pitch(value)


def _pitch(value: Fraction) -> Fraction:
    """Returns the largest 10^k of which a decimal number is a multiple; 0 for other fractions."""
    odd = value.denominator
    twos = fives = 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    if odd > 1:
        return Fraction(0)
    pitch = Fraction(1, 10 ** max(twos, fives))
    while (value / (10 * pitch)).denominator == 1:
        pitch *= 10
    return pitch
