"""Finds the rational function of one or two variables that takes given exact values, and evaluates it on grids."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Array = Any
Row = list[Fraction]


@dataclass(frozen=True)
class RationalSurface:
    """N / D: coefficients of monomials, of which `powers` holds the exponents of each variable."""

    powers: tuple[tuple[int, ...], ...]
    above: tuple[Fraction, ...]
    below: tuple[Fraction, ...]

    def at(self, place: Sequence[Fraction]) -> Fraction | None:
        """Returns the value at a place; None at a pole."""
        terms = [_monomial(place, power) for power in self.powers]
        below = sum((c * t for c, t in zip(self.below, terms, strict=True)), Fraction(0))
        above = sum((c * t for c, t in zip(self.above, terms, strict=True)), Fraction(0))
        return above / below if below else None

    def on(self, places: Array) -> Array:
        """Returns the values at many places, a row each, in floats; nan beside a pole."""
        import numpy as np

        if len(self.powers) == 1:
            return np.full(len(places), float(self.above[0] / self.below[0]))
        terms = np.stack([np.prod(places ** np.array(power), axis=1) for power in self.powers], axis=1)
        above, below = (np.array([float(c) for c in row]) for row in (self.above, self.below))
        divisor, size = terms @ below, np.abs(terms) @ np.abs(below)
        near = np.abs(divisor) <= 1e-9 * size
        return np.where(near, np.nan, (terms @ above) / np.where(near, 1.0, divisor))


def surface(places: Sequence[Sequence[Fraction]], values: Sequence[Fraction], degree: int) -> RationalSurface | None:
    """Returns the function of this degree in each variable with these values; None where there is none.

    More values than it has coefficients are needed for it to be the only one.
    """
    powers = tuple(itertools.product(range(degree + 1), repeat=len(places[0])))
    rows = []
    for place, value in zip(places, values, strict=True):
        terms = [_monomial(place, power) for power in powers]
        rows.append([*terms, *(-value * term for term in terms)])
    coefficients = _null_vector(rows)
    if coefficients is None:
        return None
    result = RationalSurface(powers, tuple(coefficients[: len(powers)]), tuple(coefficients[len(powers) :]))
    agrees = all(result.at(place) == value for place, value in zip(places, values, strict=True))
    return result if agrees else None


def needed(variables: int, degree: int) -> int:
    """Returns how many values settle a function: its coefficients, and two more."""
    return int(2 * (degree + 1) ** variables) + 2


def _monomial(place: Sequence[Fraction], power: Sequence[int]) -> Fraction:
    product = Fraction(1)
    for number, exponent in zip(place, power, strict=True):
        product *= number**exponent
    return product


def _null_vector(rows: list[Row]) -> Row | None:
    """Returns a vector that all rows send to 0, by elimination; None where 0 alone is one."""
    width, pivots, done = len(rows[0]), list[int](), 0
    for column in range(width):
        lead = next((k for k in range(done, len(rows)) if rows[k][column]), None)
        if lead is None:
            continue
        rows[done], rows[lead] = rows[lead], rows[done]
        scale = rows[done][column]
        rows[done] = [number / scale for number in rows[done]]
        for k, row in enumerate(rows):
            if k != done and row[column]:
                factor = row[column]
                rows[k] = [a - factor * b for a, b in zip(row, rows[done], strict=True)]
        pivots.append(column)
        done += 1
    free = next((column for column in range(width) if column not in pivots), None)
    if free is None:
        return None
    vector = [Fraction(0)] * width
    vector[free] = Fraction(1)
    for k, column in enumerate(pivots):
        vector[column] = -rows[k][free]
    return vector
