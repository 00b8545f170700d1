"""Reads the jitter of a pause: by how much chance changes it."""

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
        return (max(Fraction(0), 1 - jitter.high) if jitter.exact else 1 + jitter.low), 1 + jitter.high
    return (LEAST.get(jitter.text, ONE) if jitter else ONE), ONE


def is_decorrelated(jitter: Quantity | Word | None) -> bool:
    """Decides whether each pause is drawn from the one before it."""
    return isinstance(jitter, Word) and jitter.text == "decorrelated"
