"""Renders numbers for people (`1 min 30 s`, `10 kW`, `0.43`) and exactly for machines (`"173/2"`).

Quantities are SI, times are seconds.  What a design may be written with again (render_quantity, render_seconds,
render_decimal) reads back through base/units; render_duration and render_figure mark dropped digits with `~`.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from coherence.base.units import ONE, SECOND, Dimension, UnitError, quantity, unit

_PART_DIGITS = 4000
_PART = 10**_PART_DIGITS
_PREFIXED = {"W": (1000,), "B": (1024, 1000)}
_STEPS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def digits(number: int) -> str:
    """Returns a whole number of any length as decimal digits: Python writes none of more than 4300."""
    sign, rest, parts = "-" if number < 0 else "", abs(number), list[str]()
    while rest >= _PART:
        rest, part = divmod(rest, _PART)
        parts.append(f"{part:0{_PART_DIGITS}}")
    return sign + "".join([str(rest), *reversed(parts)])


def render_quantity(value: Fraction | float, dimension: Dimension = ONE) -> str:
    """Renders a number with a unit that a person would write: `1.5 min`, `250 ms`, `10 kW`, `64 req`."""
    if dimension == SECOND:
        return render_seconds(value)
    unit_text = "" if dimension == ONE else str(dimension)
    if unit_text.partition("/")[0] in _PREFIXED:
        return render_prefixed(value, unit_text)
    return f"{render_decimal(value)} {unit_text}".rstrip()


def render_prefixed(value: Fraction | float, unit_text: str) -> str:
    """Renders watts and bytes, also per something, with a prefix: `10 kW`, `6 GB/s`, `2 TB`, `2 TiB`.

    Of two prefixes the one is taken that shows the value exactly, and the shorter text of two such.
    """
    written = [_with_prefix(value, unit_text, step) for step in _PREFIXED[unit_text.partition("/")[0]]]
    return min(written, key=lambda text: (not _reads_back(text, value), len(text)))


def _reads_back(text: str, value: Fraction | float) -> bool:
    """Decides whether a text is read as this value exactly."""
    try:
        return quantity(text)[0] == value
    except UnitError:
        return False


def _with_prefix(value: Fraction | float, name: str, step: int) -> str:
    prefixes = ("", "k", "M", "G", "T", "P") if step == 1000 else ("", "Ki", "Mi", "Gi", "Ti", "Pi")
    exact, index = Fraction(value), 0
    while abs(exact) >= step and index < len(prefixes) - 1:
        exact, index = exact / step, index + 1
    return f"{render_decimal(exact)} {prefixes[index]}{name}"


def render_seconds(value: Fraction | float) -> str:
    """Renders a duration in its most natural unit: exact where a decimal of six digits is."""
    exact = Fraction(value)
    if exact == 0:
        return "0 s"
    if abs(exact) < 1:
        name, scale = ("ms", 1000) if abs(exact) >= Fraction(1, 1000) else ("us", 10**6)
        return f"{render_decimal(exact * scale)} {name}"
    for name, size in _STEPS:
        if abs(exact) >= 2 * size and (exact / size * 2).denominator == 1:
            return f"{render_decimal(exact / size)} {name}"
    return f"{render_decimal(exact)} s"


def render_clock(value: Fraction | float) -> str:
    """Renders a time for reading, in at most two units: `2 min 50 s` (not for writing back into a design)."""
    exact = Fraction(value)
    if exact.denominator != 1 or exact < 60:
        return render_seconds(exact)
    for (big, size), (small, part) in itertools.pairwise(_STEPS):
        if exact >= size:
            rest = exact % size // part
            return f"{exact // size} {big}" + (f" {rest} {small}" if rest else "")
    return render_seconds(exact)


def render_decimal(value: Fraction | float) -> str:
    """Renders at most six significant decimals, without trailing zeros."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator) if abs(exact) < 10**15 else f"{_approximate(exact):.6g}"
    return f"{_approximate(exact):.7g}"


def _approximate(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


_HUGE = 10**15
_SMALL_TIMES = (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))
_LARGE_TIMES = (("d", 86400), ("h", 3600), ("min", 60))


def render_duration(time: Fraction) -> str:
    """Renders a duration exactly: `250 ms`, `20 s`, `1 min 30 s`, `2 d 4 h`; with `~` where digits were dropped."""
    if time < 0:
        return f"-{render_duration(-time)}"
    if time >= _HUGE:
        return f"{_scientific(time)} s"
    return _long_duration(time) if time >= 60 else _short_duration(time)


def _short_duration(time: Fraction) -> str:
    for name, factor in _SMALL_TIMES:
        if time * factor >= 1 or not time:
            return f"{render_rounded(time * factor)} {name}"
    return f"{render_rounded(time * 10**9)} ns"


def _long_duration(time: Fraction) -> str:
    parts, rest = [], time
    for name, size in _LARGE_TIMES:
        count, rest = divmod(rest, size)
        parts += [f"{count} {name}"] if count else []
    seconds = render_rounded(rest)
    rounded = "~" if seconds.startswith("~") else ""
    return rounded + " ".join([*parts, f"{seconds.lstrip('~')} s"] if rest else parts)


def render_rounded(value: Fraction) -> str:
    """Renders three decimals, or as many as show three digits; a leading `~` where more were dropped."""
    size = abs(value)
    if size >= _HUGE or 0 < size < Fraction(1, 10**4):
        return _scientific(value)
    places = 3 + sum(0 < size < Fraction(1, 10**zeros) for zeros in (1, 2, 3))
    digits = round(size * 10**places)
    text = f"{digits // 10**places}.{digits % 10**places:0{places}}".rstrip("0").rstrip(".")
    rounded = "" if Fraction(digits, 10**places) == size else "~"
    return f"{rounded}{'-' if value < 0 else ''}{text}"


def _scientific(value: Fraction) -> str:
    """Renders three digits and an exponent, for values far outside the range of floats too."""
    size = abs(value)
    power = math.floor((size.numerator.bit_length() - size.denominator.bit_length()) * math.log10(2))
    mantissa = size / Fraction(10) ** power
    while mantissa >= 10:
        mantissa, power = mantissa / 10, power + 1
    while mantissa < 1:
        mantissa, power = mantissa * 10, power - 1
    exact = (mantissa * 100).denominator == 1
    return f"{'' if exact else '~'}{'-' if value < 0 else ''}{float(mantissa):.3g}e{power}"


def render_figure(value: Fraction | float, unit: str) -> str:
    """Renders a number with its unit; seconds as a duration, bytes with a prefix."""
    if isinstance(value, float):
        return f"{value:.6g} {unit}".rstrip()
    exact = Fraction(value)
    if unit == "B":
        return render_prefixed(exact, unit)
    return render_duration(exact) if unit == "s" else f"{render_rounded(exact)} {unit}".rstrip()


def figure_unit(dimension: Dimension) -> str:
    """Returns the unit of a figure of a dimension; nothing for a bare number."""
    return "" if dimension == ONE else str(dimension)


def render_exact(value: Fraction) -> str:
    """Renders a fraction whole: `3`, `173/2`; hexadecimal (`0x1f/0x3`) past 4,000 digits, the limit of Python."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 13_000:
        return f"{value.numerator:#x}/{value.denominator:#x}"
    return str(value)


def nearest_float(value: Fraction | float) -> float | None:
    """Returns the nearest float, or None where there is none (too large, infinite, not a number)."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def render_number(amount: float, digits: int = 4) -> str:
    """Renders an estimate with `digits` significant digits and no exponent near one; NaN is `not known`."""
    if not math.isfinite(amount):
        return "not known" if math.isnan(amount) else ("inf" if amount > 0 else "-inf")
    return f"{amount:.{digits}g}" if amount == 0 or 1e-4 <= abs(amount) < 1e6 else f"{amount:.{digits - 1}e}"


def render_bound(value: Fraction | float, unit_text: str) -> str:
    """Renders a bound in its unit with six digits: `50 ms`, `1.5 KiB`; bits are counted as bits; `1` shows nothing."""
    rounded = float(f"{float(value):.6g}")
    if unit_text in ("1", ""):
        return f"{rounded:.6g}"
    if unit_text.startswith("bit"):
        return f"{float(f'{float(value) * 8:.6g}'):.6g} {unit_text}"
    if unit_text == "s" and 2 * 3600 <= abs(rounded) < math.inf:
        name, size = ("d", 86400) if abs(rounded) >= 2 * 86400 else ("h", 3600)
        return f"{float(value) / size:.6g} {name}"
    try:
        return render_quantity(Fraction(str(rounded)), unit(unit_text)[1])
    except (UnitError, ValueError):
        return f"{rounded:.6g} {unit_text}"


def render_measured(value: float, unit_text: str) -> str:
    """Renders a simulated or measured number in its unit with four digits: `212 ms`, `3.2/s`, `12 %`."""
    if not math.isfinite(value) or unit_text in ("", "%") or unit_text.startswith("/"):
        return f"{value:.4g}" + (f" {unit_text}" if unit_text == "%" else unit_text)
    if unit_text == "s" and 0 < abs(value) < 1:
        return f"{value * 1000:.3g} ms"
    try:
        return render_quantity(float(f"{value:.4g}"), unit(unit_text)[1])
    except UnitError:
        return f"{value:.4g} {unit_text}"


def render_tick(value: float) -> str:
    """Renders the number at a tick of an axis: four digits, thousands as `k`, `M`, `G`."""
    if abs(value) < 1e-12:
        return "0"
    for least, size, prefix in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / size:.4g}{prefix}"
    return f"{value:.4g}"
