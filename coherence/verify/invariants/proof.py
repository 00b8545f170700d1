"""Defines what a search for an invariant ends with: a proof with its certificate, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from coherence.verify.invariants.smtlib import Invariant, Obligation


@dataclass(frozen=True, slots=True)
class InvariantProof:
    """No run enters a bad set.  `invariant` maps each mode to alternatives (none: never entered).

    `certificate`, which is all of `obligations` in one, was answered unsat by z3, exactly as it stands; where
    they are few, each of them was, too.  `solver.recheck` asks cvc5.  `tried` lists the attempts; the last succeeded.
    """

    invariant: Invariant
    obligations: tuple[Obligation, ...]
    certificate: str
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unproved:
    """No proof was found.  `suspect`: labels of the edges of a run, in floats, that seems to enter a bad set.

    `start`: its first point, `chosen`: its choices at each step, both rounded to short rationals: to be run exactly.
    """

    reason: str
    tried: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()
    start: tuple[Fraction, ...] = ()
    chosen: tuple[tuple[Fraction, ...], ...] = ()


Result: TypeAlias = InvariantProof | Unproved
