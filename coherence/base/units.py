"""Reads text such as `500 ms`, `25 %` or `10 kW` to exact SI numbers: the only unit parser.

A dimension is a product of powers of base units (second, watt, byte, degree Celsius, US dollar) and
of counters (req, token, replica, gpu ...).  Counters have dimension one and a tag: two different
tags do not add or compare, but a bare number goes with any of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

COUNTERS = frozenset(
    {
        "req", "token", "replica", "gpu", "job", "node", "pod", "cpu", "core", "block",
        "step", "sample", "host", "task", "call", "turn", "run", "slot", "rank", "rad",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Dimension:
    """Powers of base units, sorted by name: `req/s` is (("req", 1), ("s", -1))."""

    powers: tuple[tuple[str, int], ...] = ()

    def __mul__(self, other: Dimension) -> Dimension:
        return self._combine(other, 1)

    def __truediv__(self, other: Dimension) -> Dimension:
        return self._combine(other, -1)

    def _combine(self, other: Dimension, sign: int) -> Dimension:
        total = dict(self.powers)
        for base, power in other.powers:
            total[base] = total.get(base, 0) + sign * power
        return Dimension(tuple(sorted((b, p) for b, p in total.items() if p)))

    @property
    def physical(self) -> Dimension:
        """Returns the same without counters."""
        return Dimension(tuple((b, p) for b, p in self.powers if b not in COUNTERS))

    @property
    def tags(self) -> Dimension:
        """Returns the powers of counters alone."""
        return Dimension(tuple((b, p) for b, p in self.powers if b in COUNTERS))

    def fits(self, other: Dimension) -> bool:
        """Returns whether the two can be added or compared: counters agree, or one side has none."""
        if self.powers == other.powers:
            return True
        if self.physical != other.physical:
            return False
        return self.tags == other.tags or not self.tags.powers or not other.tags.powers

    def __str__(self) -> str:
        over = "*".join(b if p == 1 else f"{b}^{p}" for b, p in self.powers if p > 0) or "1"
        under = "/".join(b if p == -1 else f"{b}^{-p}" for b, p in self.powers if p < 0)
        return over + (f"/{under}" if under else "") if self.powers else "a bare number"


ONE = Dimension()
SECOND = Dimension((("s", 1),))
_WATT, _BYTE = Dimension((("W", 1),)), Dimension((("B", 1),))
_JOULE = _WATT * SECOND


def _table() -> dict[str, tuple[Fraction, Dimension]]:
    k = 1000
    units: dict[str, tuple[Fraction, Dimension]] = {"%": (Fraction(1, 100), ONE), "Hz": (Fraction(1), ONE / SECOND)}
    durations = {"ns": Fraction(1, k**3), "us": Fraction(1, k**2), "µs": Fraction(1, k**2), "ms": Fraction(1, k)}
    durations |= {"s": Fraction(1), "min": Fraction(60), "h": Fraction(3600), "d": Fraction(86400)}
    units |= {name: (factor, SECOND) for name, factor in durations.items()}
    for exponent, prefix in enumerate(("", "k", "M", "G", "T", "P")):
        units[f"{prefix}W"] = (Fraction(k**exponent), _WATT)
        units[f"{prefix}J"] = (Fraction(k**exponent), _JOULE)
        units[f"{prefix}Wh"] = (Fraction(3600 * k**exponent), _JOULE)
        units[f"{prefix}B"] = (Fraction(k**exponent), _BYTE)
        units[f"{prefix}bit"] = (Fraction(k**exponent, 8), _BYTE)
        units[f"{prefix}FLOP"] = (Fraction(k**exponent), ONE)
        if prefix:
            units[f"{prefix.upper()}iB"] = (Fraction(1024**exponent), _BYTE)
            units[f"{prefix}Hz"] = (Fraction(k**exponent), ONE / SECOND)
    units["Kbit"] = units["kbit"]
    units["mW"] = (Fraction(1, k), _WATT)
    units["C"] = (Fraction(1), Dimension((("C", 1),)))
    units["usd"] = (Fraction(1), Dimension((("usd", 1),)))
    units |= {name: (Fraction(1), Dimension(((name, 1),))) for name in COUNTERS}
    units |= {f"{name}s": units[name] for name in COUNTERS if name not in ("cpu", "rad")}
    return units


UNITS: Mapping[str, tuple[Fraction, Dimension]] = _table()

NUMBER = r"[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?"
UNIT = r"(?:%|[A-Za-zµ]+)(?:[/*][A-Za-zµ]+)*"
LONGEST = 400  # characters of a value
_LITERAL = re.compile(rf"([-+]?{NUMBER})\s*({UNIT})?")
_GO = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)")


_FRACTION = re.compile(r"([0-9]{1,6})\s*/\s*([1-9][0-9]{0,5})")
EXAMPLES = "units are written like ms, min, req/s, GB, kW or %"


class UnitError(ValueError):
    """Raised for a text that is not a quantity; the message says why and `remedy` what to write."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


def unit(text: str) -> tuple[Fraction, Dimension]:
    """Returns factor to SI and dimension of a unit such as `ms`, `req/s` or `%`."""
    factor, dimension, sign = Fraction(1), ONE, 1
    for part in re.split(r"([/*])", text):
        if part in ("/", "*"):
            sign = -1 if part == "/" else 1
            continue
        if part not in UNITS:
            from coherence.base.errors import did_you_mean

            same = [known for known in UNITS if known.lower() == part.lower()]
            raise UnitError(f"unknown unit '{part}'", did_you_mean(same[0] if same else part, UNITS) or EXAMPLES)
        size, dimension_of_part = UNITS[part]
        factor = factor * size if sign > 0 else factor / size
        dimension = dimension * dimension_of_part if sign > 0 else dimension / dimension_of_part
    return factor, dimension


def number(text: str) -> Fraction:
    """Returns an exact decimal number; refuses exponents that would not fit in memory."""
    return Fraction(text.replace("_", ""))


def fraction(text: str) -> Fraction | None:
    """Returns the number of `1/7`, a fraction of whole numbers without a unit; None for other text."""
    match = _FRACTION.fullmatch(text.strip())
    return Fraction(int(match[1]), int(match[2])) if match else None


def quantity(text: str) -> tuple[Fraction, Dimension]:
    """Returns value (SI) and dimension: `500 ms` -> (1/2, second).  Raises UnitError."""
    match = _LITERAL.fullmatch(text.strip())
    if not match or len(text) > LONGEST:
        part = fraction(text)
        remedy = f"write it as a decimal: {float(part):.6g}" if part else "write for example 500 ms, 25 %, 10 kW or 64"
        raise UnitError(f"'{shorten(text)}' is not a number with a unit", remedy)
    factor, dimension = unit(match[2]) if match[2] else (Fraction(1), ONE)
    return number(match[1]) * factor, dimension


def go_duration(text: str) -> Fraction:
    """Returns the seconds of a Go duration such as `1m30s`, `2.000s` or `168h0m0s`.  Raises UnitError."""
    parts = _GO.findall(text) if len(text) <= LONGEST else []
    if not parts or "".join(a + b for a, b in parts) != text.strip():
        raise UnitError(f"'{shorten(text)}' is not a duration", "write for example 300ms, 2s or 1m30s")
    minutes = {"m": Fraction(60)}
    return sum((number(a) * (minutes.get(b) or UNITS[b][0]) for a, b in parts), Fraction(0))


def shorten(text: str, limit: int = 60) -> str:
    """Returns the text on one line, cut in the middle where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 20]}...{line[-15:]}"
