"""Rounds bounds in floats to an invariant in simple rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from coherence.verify.invariants.invariant_margins import InvariantGuess, needed, room
from coherence.verify.invariants.numeric import TIGHTEN, Flags, Floats
from coherence.verify.invariants.rationals import roundest, simplest, striking
from coherence.verify.invariants.smtlib import Invariant
from coherence.verify.systems.piecewise_affine import Constraint, LinearForm, Polyhedron

_ERROR = 2e-9  # of a bound in floats, in the frame

Style: TypeAlias = Literal["roomy", "tight", "strict"]


def rational(guess: InvariantGuess, style: Style) -> Invariant | None:
    """Returns the invariant in rationals: `roomy` bounds, `tight` ones, or tight and `<` where no start is on them."""
    need = needed(guess)
    interval = room(guess, need) if style == "roomy" else (guess.bounds.support, guess.bounds.support)
    if interval is None or not np.isfinite(np.where(need, interval, 0.0)).all():
        return None
    low, high = interval
    strict = need & (low > guess.abstraction.start.support + 1e-7) if style == "strict" else np.zeros_like(need)
    modes = guess.abstraction.numeric.modes
    return {
        mode: (_polyhedron(guess, need[m], low[m], high[m], strict[m]),) if guess.bounds.reached[m] else ()
        for m, mode in enumerate(modes)
    }


def _polyhedron(guess: InvariantGuess, need: Flags, low: Floats, high: Floats, strict: Flags) -> Polyhedron:
    frame, states = guess.abstraction.numeric.frame, guess.abstraction.numeric.states
    rows = []
    for j in np.nonzero(need)[0]:
        direction = guess.directions[j]
        raw = np.array([float(c) for c in direction])
        unit, shift = float(np.linalg.norm(raw * frame.scale[:states])), float(raw @ frame.centre[:states])
        value, below = _number(low[j] * unit + shift, high[j] * unit + shift, unit)
        rows.append(Constraint(LinearForm(direction, -value), "<" if below or strict[j] else "<="))
    return tuple(rows)


def _number(low: float, high: float, unit: float) -> tuple[Fraction, bool]:
    """Returns a simple number in [low, high]; or the striking one just above, which a `<` has been shrunk from."""
    error = Fraction(_ERROR * unit) + Fraction(abs(low)) / 10**15
    first, last = Fraction(low), Fraction(max(low, high))
    if last - first > 1000 * error:
        return roundest(first, last), False
    shrunk = first - error, first + Fraction(10 * TIGHTEN * unit)
    for outside in (roundest(*shrunk), simplest(*shrunk)):
        if striking(outside, *shrunk):
            return outside, outside > last + error
    return simplest(first - error, last + error), False
