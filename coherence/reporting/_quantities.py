"""Numbers for people (`1 min 30 s`) and for machines (`"173/2"`).  Times are seconds."""

from __future__ import annotations

import math
from fractions import Fraction

_HUGE = 10**15
_SMALL_UNITS = (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))
_LARGE_UNITS = (("d", 86400), ("h", 3600), ("min", 60))


def duration(time: Fraction) -> str:
    """`0 s`, `250 ms`, `20 s`, `1 min 30 s`, `2 d 4 h`; a leading `~` where digits were dropped."""
    if time < 0:
        return f"-{duration(-time)}"
    if time >= _HUGE:
        return f"{_scientific(time)} s"
    return _long(time) if time >= 60 else _short(time)


def _short(time: Fraction) -> str:
    for unit, factor in _SMALL_UNITS:
        if time * factor >= 1 or not time:
            return f"{decimal(time * factor)} {unit}"
    return f"{decimal(time * 10**9)} ns"


def _long(time: Fraction) -> str:
    parts, rest = [], time
    for unit, size in _LARGE_UNITS:
        count, rest = divmod(rest, size)
        parts += [f"{count} {unit}"] if count else []
    seconds = decimal(rest)
    rounded = "~" if seconds.startswith("~") else ""
    return rounded + " ".join([*parts, f"{seconds.lstrip('~')} s"] if rest else parts)


def decimal(value: Fraction) -> str:
    """Three decimals, or as many as show three digits; a leading `~` where more were dropped."""
    size = abs(value)
    if size >= _HUGE or 0 < size < Fraction(1, 10**4):
        return _scientific(value)
    places = 3 + sum(0 < size < Fraction(1, 10**zeros) for zeros in (1, 2, 3))
    digits = round(size * 10**places)
    text = f"{digits // 10**places}.{digits % 10**places:0{places}}".rstrip("0").rstrip(".")
    rounded = "" if Fraction(digits, 10**places) == size else "~"
    return f"{rounded}{'-' if value < 0 else ''}{text}"


def _scientific(value: Fraction) -> str:
    """Three digits and an exponent, for values far outside the range of floats too."""
    size = abs(value)
    power = math.floor((size.numerator.bit_length() - size.denominator.bit_length()) * math.log10(2))
    mantissa = size / Fraction(10) ** power
    while mantissa >= 10:
        mantissa, power = mantissa / 10, power + 1
    while mantissa < 1:
        mantissa, power = mantissa * 10, power - 1
    exact = (mantissa * 100).denominator == 1
    return f"{'' if exact else '~'}{'-' if value < 0 else ''}{float(mantissa):.3g}e{power}"


def figure(value: Fraction | float, unit: str) -> str:
    """A number with its unit; seconds as a duration."""
    if isinstance(value, float):
        return f"{value:.6g} {unit}".rstrip()
    exact = Fraction(value)
    return duration(exact) if unit == "s" else f"{decimal(exact)} {unit}".rstrip()


def exact_text(value: Fraction) -> str:
    """`3`, `173/2`; hexadecimal (`0x1f/0x3`) past 4,000 digits, where Python refuses to write decimals."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 13_000:
        return f"{value.numerator:#x}/{value.denominator:#x}"
    return str(value)


def nearest_float(value: Fraction | float) -> float | None:
    """The nearest float, or None where there is none (too large, infinite, not a number)."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
