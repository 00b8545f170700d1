"""Reads jitter, of a pause and of a timer: by how much chance changes it.

One value is either way, a range is what it says: `20 %` and `-20 % .. 20 %` of a pause, `2 s` and `-2 s .. 2 s` of a
timer, whose `0 s .. 100 ms` is late and never early.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.language.schema_kinds import Quantity, Word

ONE = Fraction(1)
LEAST = {"full": Fraction(0), "equal": Fraction(1, 2)}


def spread_of(jitter: Quantity | Word | None) -> tuple[Fraction, Fraction]:
    """Returns the least and the most that a pause is multiplied by: 0.8 and 1.2 for `20 %`, 0.75 and 1 for `-25 % .. 0
    %`.
    """
    if isinstance(jitter, Quantity):
        low, high = _ends(jitter)
        return max(Fraction(0), 1 + low), 1 + high
    return (LEAST.get(jitter.text, ONE) if jitter else ONE), ONE


def shift_of(jitter: Quantity | None) -> tuple[Fraction, Fraction]:
    """Returns by how many seconds a timer fires later at the least (early: below 0) and at the most."""
    return _ends(jitter) if jitter is not None else (Fraction(0), Fraction(0))


def _ends(jitter: Quantity) -> tuple[Fraction, Fraction]:
    return (-abs(jitter.high), abs(jitter.high)) if jitter.exact else (jitter.low, jitter.high)


def is_decorrelated(jitter: Quantity | Word | None) -> bool:
    """Decides whether each pause is drawn from the one before it."""
    return isinstance(jitter, Word) and jitter.text == "decorrelated"
