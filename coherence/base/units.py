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
    for exponent, prefix in enumerate(("k", "M", "G"), start=1):  # as providers quote prices
        units |= {f"{prefix}{name}": (Fraction(k**exponent), units[name][1]) for name in ("token", "tokens")}
    return units


UNITS: Mapping[str, tuple[Fraction, Dimension]] = _table()

NUMBER = r"[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?"
UNIT = r"(?:%|[A-Za-zµ]+)(?:[/*][A-Za-zµ]+)*"
LONGEST = 400  # characters of a value
_LITERAL = re.compile(rf"([-+]?{NUMBER})\s*({UNIT})?")
_GO = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)")


_FRACTION = re.compile(r"([0-9]{1,6})\s*/\s*([1-9][0-9]{0,5})")
EXAMPLES = "units are written like ms, min, req/s, GB, kW or %"


_SPELT = {
    "s": "sec secs second seconds", "min": "mins minute minutes", "h": "hr hrs hour hours", "d": "day days",
    "ms": "msec msecs millis millisecond milliseconds", "us": "usec usecs μs microsecond microseconds",
    "ns": "nsec nanosecond nanoseconds", "%": "percent pct", "C": "°C degC celsius °", "usd": "$ US$ dollar dollars",
    "req": "request requests query queries message messages msg msgs item items record records event events",
    "token": "tok toks", "cpu": "vcpu vcpus cpus", "B": "byte bytes", "W": "watt watts", "J": "joule joules",
    "Wh": "watthour", "bit": "bits", "KiB": "Ki", "MiB": "Mi", "GiB": "Gi", "TiB": "Ti", "PiB": "Pi",
    "req/s": "rps qps", "req/min": "rpm qpm", "token/min": "tpm",
    "bit/s": "bps", "kbit/s": "kbps", "Mbit/s": "Mbps", "Gbit/s": "Gbps", "Tbit/s": "Tbps",
    "kbit": "Kb", "Mbit": "Mb", "Gbit": "Gb", "Tbit": "Tb", "kB/s": "KBps kBps", "MB/s": "MBps", "GB/s": "GBps",
    "TFLOP": "TFLOPs", "TFLOP/s": "TFLOPS", "GFLOP/s": "GFLOPS", "PFLOP/s": "PFLOPS",
}  # fmt: skip
_WRITTEN = {other: ours for ours, others in _SPELT.items() for other in others.split()}
_SPELT_VALUE = re.compile(rf"(\$?)([-+]?{NUMBER})?\s*(.*)")
_PER = re.compile(r"(?:\s|^)(?:per|an?)\s+")
_COMMAS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")


def respelled(text: str) -> str:
    """Returns a value or a unit of a spelling that the field uses as it is written here, "" where none is known.

    `4 rps` -> `4 req/s`; `5 secs` -> `5 s`; `4 /s` -> `4 req/s`; `1,000 MB` -> `1000 MB`; `1h30m` -> `90 min`.
    """
    given = text.strip()[:LONGEST]
    if len(_GO.findall(given)) > 1 and "".join(a + b for a, b in _GO.findall(given)) == given:
        seconds = go_duration(given)
        counts = [(seconds / UNITS[name][0], name) for name in ("h", "min", "s", "ms")]
        return next((f"{count} {name}" for count, name in counts if count.denominator == 1), "")
    match = _SPELT_VALUE.fullmatch(_COMMAS.sub(lambda found: found[0].replace(",", ""), given))
    if not match:
        return ""
    money, amount, rest = match[1], match[2] or "", re.sub(r"\s*/\s*", "/", _PER.sub("/", match[3]))
    if money or rest.startswith(("/", "1/")):
        rest = ("usd" if money else "req") + rest.removeprefix("1")
    whole = _WRITTEN.get(rest) or _WRITTEN.get(rest.lower()) or rest
    written = "".join(_part_written(part) for part in re.split(r"([/*])", whole))
    if any(part not in UNITS for part in re.split(r"[/*]", written)):
        return ""
    if not _LITERAL.fullmatch(f"1 {written}"):
        return ""
    written = f"{amount} {written}".strip()
    return written if written != given else ""


def _part_written(part: str) -> str:
    """Returns one unit as it is written here; words of one or two letters keep their case (`Ms` may be many things)."""
    if part in UNITS or part in "/*":
        return part
    low = part.lower() if len(part) > 2 else part
    return _WRITTEN.get(part) or _WRITTEN.get(low) or low


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
            raise UnitError(f"unknown unit '{part}'", remedy_of_unit(text, part))
        size, dimension_of_part = UNITS[part]
        factor = factor * size if sign > 0 else factor / size
        dimension = dimension * dimension_of_part if sign > 0 else dimension / dimension_of_part
    return factor, dimension


def remedy_of_unit(text: str, part: str) -> str:
    """Returns what to write for a unit or value `text` whose `part` is no unit."""
    from coherence.base.errors import did_you_mean

    if written := respelled(text):
        return f"write {written}"
    if part == "m":
        return f"write {text.removesuffix('m').strip()} min for minutes; thousandths are decimals, as in 0.5 cpu"
    same = [known for known in UNITS if known.lower() == part.lower()]
    return did_you_mean(same[0] if same else part, UNITS) or EXAMPLES


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
        part, written = fraction(text), respelled(text)
        example = f"write {written}" if written else "write for example 500 ms, 25 %, 10 kW or 64"
        remedy = f"write it as a decimal: {float(part):.6g}" if part else example
        raise UnitError(f"'{shorten(text)}' is not a number with a unit", remedy)
    try:
        factor, dimension = unit(match[2]) if match[2] else (Fraction(1), ONE)
    except UnitError as error:
        again = respelled(text) or match[2] == "m"
        raise UnitError(str(error), remedy_of_unit(text.strip(), match[2]) if again else error.remedy) from None
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
