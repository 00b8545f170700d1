"""Replaces the numbers of a solver's state by ones that a reader can check in the head."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from coherence.model.model import EVERYTHING, Interval

State = Mapping[str, Fraction | bool]
MOST_PLAIN = 100  # whole numbers below it are plain enough
SMALL = 10  # below it whole numbers are tried before digits


def rounder(at: State, spans: Mapping[str, Interval], holds: Callable[[State], bool]) -> State:
    """Returns the state with each number rounded, within its range, as far as everything still holds."""
    rounded = dict(at)
    for name, level in at.items():
        if isinstance(level, bool) or (level.denominator == 1 and abs(level) < MOST_PLAIN):
            continue
        span = spans.get(name, EVERYTHING)
        for candidate in _neighbours(level):
            if span.clip(candidate) == candidate and holds({**rounded, name: candidate}):
                rounded[name] = candidate
                break
    return rounded


def _neighbours(level: Fraction) -> Iterator[Fraction]:
    """Yields whole numbers first where it is small, else neighbours with two or three digits."""
    whole = (Fraction(math.ceil(level)), Fraction(math.floor(level)))
    if abs(level) < SMALL:
        yield from whole
    exponent = len(str(abs(level.numerator))) - len(str(level.denominator))  # of ten, one too large at most
    for digits in (1, 2, 3):
        size = Fraction(10) ** (exponent - digits)
        yield from (size * math.ceil(level / size), size * math.floor(level / size))
    yield from whole
