"""Finds the numbers of a design that can be swept, by dotted paths, and writes new values into its text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_decimal
from coherence.base.units import Dimension
from coherence.findings import repairs
from coherence.findings.finding import Edit
from coherence.language import document
from coherence.language.document import Items, Node, Scalar, Table

POINTS = 9
LARGEST = 10**300
MOST_POINTS = 40_000


@dataclass(frozen=True)
class Axis:
    """A key of the design and the values it takes (SI), with the unit they are written in."""

    key: str
    scalar: Scalar
    values: tuple[Fraction, ...]
    unit: str
    dimension: Dimension
    log: bool

    def render(self, number: Fraction) -> str:
        """Returns a value as it is written, in the unit of the key."""
        factor = units.unit(self.unit)[0] if self.unit else Fraction(1)
        return render_decimal(number / factor)

    def edit(self, number: Fraction) -> Edit:
        """Returns the change of the text."""
        old = self.scalar.text
        place = self.scalar.place
        return Edit(
            place, old, f"{_exact(number / (units.unit(self.unit)[0] if self.unit else 1))} {self.unit}".strip()
        )


def _exact(number: Fraction) -> str:
    """Returns decimal digits; a value of a grid that has no end is cut at twelve."""
    if number.denominator == 1:
        return str(number.numerator)
    return render_decimal(number) if units.quantity(render_decimal(number))[0] == number else f"{float(number):.12g}"


def axes(texts: Sequence[str], sources: Mapping[str, str], *, most: int = MOST_POINTS) -> tuple[Axis, ...]:
    """Returns all `KEY=A:B[:log][:n]`, of at most so many points.  Raises UsageError with what is wrong and which keys
    there are.
    """
    known = dict(scalars(sources))
    swept = tuple(_axis(text, known, most) for text in texts)
    if len({axis.key for axis in swept}) < len(swept):
        raise UsageError("a key is swept twice: name two different keys")
    count = math.prod(len(axis.values) for axis in swept)
    if count > most:
        raise UsageError(f"{count} points are more than {most}: give fewer, for example -p KEY=A:B:20")
    return swept


def scalars(sources: Mapping[str, str]) -> Iterator[tuple[str, Scalar]]:
    """Yields every number of the texts with its dotted path."""
    for file, text in sources.items():
        for one in document.read_text(text, file):
            yield from _below(one.root, "")


def _below(node: Node, path: str) -> Iterator[tuple[str, Scalar]]:
    if isinstance(node, Scalar):
        if _split(node.text) is not None:
            yield path, node
        return
    entries = node.entries.items() if isinstance(node, Table) else ((str(k), n) for k, n in enumerate(node))
    assert isinstance(node, Table | Items)
    for key, inner in entries:
        yield from _below(inner, f"{path}.{key}" if path else key)


def _split(text: str) -> tuple[Fraction, str] | None:
    """Returns a number with its unit as written, or None; of a range `a .. b` the lower end counts."""
    first = re.split(r"\s*\.\.\s*", text.strip())[0]
    match = re.fullmatch(rf"([-+]?{units.NUMBER})\s*({units.UNIT})?", first)
    if match is None:
        return None
    try:
        units.quantity(first)
    except (ValueError, units.UnitError):
        return None
    unit = re.sub(r"^[-+]?[0-9_.eE+-]+\s*", "", first).strip()
    return units.quantity(first)[0], unit


def _axis(text: str, known: Mapping[str, Scalar], most: int) -> Axis:
    key, _, spec = text.partition("=")
    key = key.strip()
    parts = [part.strip() for part in spec.split(":")]
    if not spec or len(parts) < 2:
        raise UsageError(f"-p {text!r}: write KEY=A:B, for example loops.hpa.target.setpoint='40 %:80 %:log:9'")
    if key not in known:
        near = did_you_mean(key, known) or "give the value in the design first"
        raise UsageError(f"-p {text!r}: the design states no number at '{key}'; {near}")
    stated = _split(known[key].text)
    assert stated is not None
    unit = stated[1]
    low, high = (_number(part, unit, text) for part in parts[:2])
    log, count = "log" in parts[2:], POINTS
    for part in parts[2:]:
        if part != "log":
            count = _count(part, text, most)
    if max(abs(low), abs(high)) > LARGEST:
        raise UsageError(f"-p {text!r}: beyond 1e300 no picture can be drawn; give a smaller end")
    if low == high:
        raise UsageError(f"-p {text!r}: both ends are the same; give two different ones")
    if log and not min(float(low), float(high)) > 0:
        raise UsageError(f"-p {text!r}: a logarithmic range needs ends above 0")
    values = tuple(_spread(low, high, count, unit, log=log))
    return Axis(key, known[key], values, unit, units.unit(unit)[1] if unit else units.ONE, log)


def _number(text: str, unit: str, whole: str) -> Fraction:
    try:
        number, _ = units.quantity(text if re.search(r"[a-zA-Zµ%]\s*$", text) else f"{text} {unit}".strip())
    except (ValueError, units.UnitError):
        raise UsageError(f"-p {whole!r}: '{text}' is not a number with a unit such as {unit or '0.5'}") from None
    if not units.quantity(text if re.search(r"[a-zA-Zµ%]\s*$", text) else f"1 {unit}".strip())[1].fits(
        units.unit(unit)[1] if unit else units.ONE
    ):
        raise UsageError(f"-p {whole!r}: '{text}' has another unit than the design")
    return number


def _count(text: str, whole: str, most: int) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or int(text) < 2:
        raise UsageError(f"-p {whole!r}: '{text}' is neither `log` nor a number of points (2 or more)")
    if int(text) > most:
        raise UsageError(f"-p {whole!r}: {text} points are more than {most}")
    return int(text)


def _spread(low: Fraction, high: Fraction, count: int, unit: str, *, log: bool) -> Iterator[Fraction]:
    factor = units.unit(unit)[0] if unit else Fraction(1)
    ratio = float(max(abs(low), abs(high)) / abs(high - low)) * count
    digits = 6 + max(0, math.ceil(math.log10(ratio)) - 3)  # enough to tell neighbours of a narrow range apart
    for k in range(count):
        if log:
            number = Fraction(float(low) * (float(high) / float(low)) ** (k / (count - 1)))
        else:
            number = low + (high - low) * k / (count - 1)
        if k in (0, count - 1):
            yield (low, high)[k > 0]
        else:
            yield Fraction(f"{float(number / factor):.{digits}g}") * factor


def edited(sources: Mapping[str, str], edits: Sequence[Edit]) -> dict[str, str]:
    """Returns the texts with these values.  Raises UsageError where a key does not stand on one line."""
    texts = repairs.apply(edits, sources)
    if texts is None:
        raise UsageError("a swept key is quoted or stands on several lines: write it as a plain number")
    return texts
