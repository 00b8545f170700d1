"""Laps beyond the size of exact counts: an unstable one is never called stable."""

from __future__ import annotations

from fractions import Fraction

from coherence.loops.designs.lap_matrices import Closed
from coherence.loops.designs.lap_roots import EXACT_SIZE, is_stable, roots


def chain(size: int, gain: Fraction) -> Closed:
    """x[k+1] = x[k] - gain * x[k - size + 2]: an integrator with that many steps of delay."""
    rows = [[Fraction(0)] * size for _ in range(size)]
    rows[0][0], rows[0][-1] = Fraction(1), -gain
    for k in range(1, size):
        rows[k][k - 1] = Fraction(1)
    return Closed(tuple(f"x{k}" for k in range(size)), rows, [], [], [], (), ())


def test_a_large_lap_is_judged_with_its_own_roots() -> None:
    size = EXACT_SIZE + 6
    for gain, stable in ((Fraction(1, 40), True), (Fraction(1, 20), False)):
        assert is_stable(chain(size, gain)) is stable
        assert roots(chain(size, gain), Fraction(1)).verdict == ("stable" if stable else "unstable")


def test_the_limit_of_exact_counts_changes_no_verdict() -> None:
    for size in (EXACT_SIZE, EXACT_SIZE + 1):
        assert is_stable(chain(size, Fraction(1, 20))) is False
        assert is_stable(chain(size, Fraction(1, 100))) is True
