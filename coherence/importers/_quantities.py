"""Numbers as Kubernetes and Go write them: quantities, whole numbers, durations; all exact."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from coherence.base import units
from coherence.base.number_text import render_quantity
from coherence.base.units import SECOND, Dimension
from coherence.language.document import Scalar

SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1)}
SUFFIXES |= {letter: Fraction(1000) ** power for power, letter in enumerate(("k", "M", "G", "T", "P", "E"), 1)}
SUFFIXES |= {f"{letter}i": Fraction(1024) ** power for power, letter in enumerate(("K", "M", "G", "T", "P", "E"), 1)}
BYTES = ("memory", "ephemeral-storage", "hugepages-")
_QUANTITY = re.compile(
    r"([0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:([eE][-+]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)"
)


def respelled(found: Scalar, text: str) -> Scalar:
    """Another text at the same place."""
    return Scalar(text, found.place)


def integer(found: Scalar) -> int | None:
    """Returns the whole number that is written, quoted or not."""
    value = Scalar(found.text.strip(), found.place).number()
    return int(value) if value is not None and value.denominator == 1 else None


def amount(text: str) -> Fraction | None:
    """Returns the value of a Kubernetes quantity: `100m` is 1/10, `1Ki` is 1024.  SOURCE: Kubernetes API,
    resource.Quantity.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        return None
    return Fraction(match[1].rstrip(".") + (match[2] or "")) * SUFFIXES[match[3] or ""]


def with_first(retries: Scalar) -> Scalar:
    """Returns a number of tries, the first one included, from a number of retries."""
    return respelled(retries, str((integer(retries) or 0) + 1))


def between(low: Scalar, high: Scalar) -> Scalar:
    """Returns a number that varies between two others, where the second ends it."""
    return respelled(high, f"varies: {low.text} .. {high.text}")


def members(stated: Scalar, thing: str, rounding: str) -> str | None:
    """Returns a number of members, or a percentage of the copies of a thing; None for anything else."""
    share, percent, rest = stated.text.replace(" ", "").partition("%")
    whole = integer(Scalar(share, stated.place))
    if whole is None or whole < 0 or rest:
        return None
    return f"{whole} % of {thing}.copies round {rounding}" if percent else str(whole)


def exact(value: Fraction) -> str:
    """Returns a finite decimal with all its digits; the denominators of this module are 2^a 5^b."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str(int(value * 10**digits)).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole


def value_of(stated: Scalar) -> Fraction:
    """Returns the value of a number of the language, in units of the language: `1 min` is 60."""
    return units.quantity(stated.text)[0]


def added(numbers: Iterable[tuple[str, Scalar]]) -> dict[str, Scalar]:
    """Returns plain numbers of one key added up, each where the first stands."""
    sums: dict[str, Scalar] = {}
    for key, number in numbers:
        first = sums.get(key)
        sums[key] = number if first is None else respelled(first, exact(value_of(first) + value_of(number)))
    return sums


def times(number: Scalar, count: Scalar) -> Scalar:
    """Returns a plain number so many times."""
    return respelled(number, exact(value_of(number) * (integer(count) or 0)))


def duration_text(value: Fraction) -> str:
    """Returns seconds as the language writes them: `2 s`, `1.5 min`."""
    return _shown(value, SECOND, "s")


def bytes_text(value: Fraction) -> str:
    """Returns bytes as the language writes them: `10 GiB`."""
    return _shown(value, units.unit("B")[1], "B")


def amount_text(value: Fraction, resource: str) -> str:
    """Returns an amount of a resource of Kubernetes: bytes of `memory` and the like, else a plain number."""
    return bytes_text(value) if resource.startswith(BYTES) else exact(value)


def as_amount(number: Scalar, resource: str) -> Scalar:
    """Returns a plain number as an amount of a resource of Kubernetes."""
    return respelled(number, amount_text(value_of(number), resource))


def _shown(value: Fraction, dimension: Dimension, unit: str) -> str:
    """Returns the readable form, or all digits where rounding would lose some."""
    text = render_quantity(value, dimension)
    return text if units.quantity(text)[0] == value else f"{exact(value)} {unit}"
