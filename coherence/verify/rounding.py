"""From bounds in floats to an invariant in simple rationals, of the rows that the proof needs.

A row is needed when its multiplier carries the safety of a bad set, the emptiness of an edge that
must not be taken, or another needed row.  The needed bounds are then moved apart as far as the
policy allows (one linear program), which leaves each an interval to take a simple number from.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from coherence.verify.directions import Direction
from coherence.verify.fixpoint import Abstraction, Bounds, Emptiness, Image, policy_rows
from coherence.verify.linear_program import Sparse, minimise, stack
from coherence.verify.numeric import Flags, Floats, Ints
from coherence.verify.rationals import roundest, simplest
from coherence.verify.smtlib import Invariant
from coherence.verify.systems import Constraint, Linear, Polyhedron

TIGHTEN = 1e-6  # how much the numeric system shrinks a `<`, in the frame
_ROOM = ((0.002, 100.0), (0.01, 10.0), (0.04, 1.0))  # room for a bound, in the frame, and what it is worth
_ERROR = 2e-9  # of a bound in floats, in the frame

Style: TypeAlias = Literal["roomy", "tight", "strict"]


@dataclass(frozen=True, slots=True)
class Guess:
    """Bounds kept by the abstract step and apart from the bad sets, with the multipliers that say so."""

    abstraction: Abstraction
    directions: tuple[Direction, ...]
    bounds: Bounds
    image: Image
    unsafe: Emptiness


def rational(guess: Guess, style: Style) -> Invariant | None:
    """The invariant in rationals: `roomy` bounds, `tight` ones, or tight and `<` wherever no start is on the bound."""
    need = needed(guess)
    interval = _room(guess, need) if style == "roomy" else (guess.bounds.support, guess.bounds.support)
    if interval is None:
        return None
    low, high = interval
    strict = need & (low > guess.abstraction.start.support + 1e-7) if style == "strict" else np.zeros_like(need)
    modes = guess.abstraction.numeric.modes
    return {
        mode: (_polyhedron(guess, need[m], low[m], high[m], strict[m]),) if guess.bounds.reached[m] else ()
        for m, mode in enumerate(modes)
    }


def needed(guess: Guess) -> Flags:
    """Which rows (M, R) the proof rests on."""
    numeric, image, reached = guess.abstraction.numeric, guess.image, guess.bounds.reached
    need = np.zeros(guess.bounds.support.shape, dtype=bool)
    _carry(need, numeric.bad_mode, guess.unsafe, reached[numeric.bad_mode])
    before = -1
    while need.sum() > before:
        before = int(need.sum())
        _carry(need, numeric.source[image.edges], image.closed, _must_stay_closed(guess, need))
        e, j = np.nonzero(need[numeric.target[image.open_]])
        _mark(need, numeric.source[image.open_[e]], image.policy.basis[e, j], image.policy.multiplier[e, j])
    return need


def _must_stay_closed(guess: Guess, need: Flags) -> Flags:
    """The closed edges whose target is false, or has rows to be kept."""
    target = guess.abstraction.numeric.target[guess.image.edges]
    matters = ~guess.bounds.reached[target] | need[target].any(axis=1)
    return (guess.image.closed.margin > guess.abstraction.apart) & matters


def _carry(need: Flags, mode: Ints, empty: Emptiness, which: Flags) -> None:
    _mark(need, mode[which], empty.basis[which], empty.multiplier[which])


def _mark(need: Flags, mode: Ints, basis: Ints, weight: Floats) -> None:
    used = (basis < need.shape[1]) & (weight != 0)
    k, i = np.nonzero(used)
    need[mode[k], basis[k, i]] = True


def _room(guess: Guess, need: Flags) -> tuple[Floats, Floats] | None:
    """Intervals such that any choice of one bound from each is kept by the policy."""
    count = int(need.sum())
    number = np.where(need, np.cumsum(need).reshape(need.shape) - 1, -1)
    held = policy_rows(guess.abstraction, guess.bounds, guess.image, number)
    start = guess.abstraction.start.support[need]
    some = np.nonzero(np.isfinite(start))[0]
    floor = Sparse(np.arange(len(some)), some, np.ones(len(some)), start[some])
    apart = (_stay_apart(number, *case) for case in _empty_cases(guess, need))
    rows = stack(_with_room(held, count), _with_room(floor, count), *apart)
    lower = np.concatenate([guess.bounds.support[need] - 1e-9, np.zeros(len(_ROOM) * count)])
    upper = np.concatenate([np.full(count, np.inf), *(np.full(count, most) for most, _ in _ROOM)])
    cost = np.concatenate([np.full(count, 1e-3), *(np.full(count, -worth) for _, worth in _ROOM)])
    group = np.concatenate([held.column[: len(held.least)], count + np.arange(len(rows.least) - len(held.least))])
    seconds = guess.abstraction.left
    found = minimise(cost, lower, upper, rows, group=group, point=np.maximum(lower, 0 * cost), seconds=seconds)
    if found is None:
        return None
    low, high = guess.bounds.support.copy(), guess.bounds.support.copy()
    low[need], high[need] = found[:count] - found[count:].reshape(len(_ROOM), count).sum(axis=0), found[:count]
    return low, high


def _with_room(rows: Sparse, count: int) -> Sparse:
    """Rows s - ... >= least, of which the first entries are the targets, with s lowered by its room.

    A bound that carries itself over (s - c s, an unchanged variable) is the same number on both sides.
    """
    k, parts = np.arange(len(rows.least)), range(1, len(_ROOM) + 1)
    target = rows.column[: len(k)]
    own = rows.column == target[rows.row]
    net = np.maximum(np.bincount(rows.row[own], weights=rows.value[own], minlength=len(k)), 0.0)
    return Sparse(
        np.concatenate([rows.row, *(k for _ in parts)]),
        np.concatenate([rows.column, *(target + part * count for part in parts)]),
        np.concatenate([rows.value, *(-net for _ in parts)]),
        rows.least,
    )


def _empty_cases(guess: Guess, need: Flags) -> list[tuple[Emptiness, Ints, Floats, Flags]]:
    """Bad sets and closed edges: the multipliers, the mode, the bounds of the own rows, and which of them count."""
    numeric, edges = guess.abstraction.numeric, guess.image.edges
    bad = (guess.unsafe, numeric.bad_mode, numeric.bad.bound, guess.bounds.reached[numeric.bad_mode])
    closed = (guess.image.closed, numeric.source[edges], numeric.guard.bound[edges], _must_stay_closed(guess, need))
    return [bad, closed]


def _stay_apart(number: Ints, empty: Emptiness, mode: Ints, bound: Floats, which: Flags) -> Sparse:
    """Moving the bounds may use up half of the margin (nearly none when it comes from a `<` alone)."""
    template, margin = number.shape[1], empty.margin[which]
    basis, weight, mode, bound = empty.basis[which], empty.multiplier[which], mode[which], bound[which]
    column = np.where(basis < template, number[mode[:, None], np.minimum(basis, template - 1)], -1)
    own = (basis >= template) & (basis < template + bound.shape[1])
    bound = np.concatenate([bound, np.zeros((len(bound), 1))], axis=1)  # the last one for rows that are not its own
    limit = np.take_along_axis(bound, np.where(own, basis - template, bound.shape[1] - 1), axis=1)
    keep = np.where(margin > 10 * TIGHTEN, 0.5, 0.999)
    k, i = np.nonzero((column >= 0) & (weight != 0))
    return Sparse(k, column[k, i], -weight[k, i], (weight * limit).sum(axis=1) + keep * margin)


def _polyhedron(guess: Guess, need: Flags, low: Floats, high: Floats, strict: Flags) -> Polyhedron:
    frame, states = guess.abstraction.numeric.frame, guess.abstraction.numeric.states
    rows = []
    for j in np.nonzero(need)[0]:
        direction = guess.directions[j]
        raw = np.array([float(c) for c in direction])
        unit, shift = float(np.linalg.norm(raw * frame.scale[:states])), float(raw @ frame.centre[:states])
        value, below = _number(low[j] * unit + shift, high[j] * unit + shift, unit)
        rows.append(Constraint(Linear(direction, -value), "<" if below or strict[j] else "<="))
    return tuple(rows)


def _number(low: float, high: float, unit: float) -> tuple[Fraction, bool]:
    """A simple number in [low, high]; or the simpler one just above that a `<` has been shrunk from."""
    error = Fraction(_ERROR * unit) + Fraction(abs(low)) / 10**15
    first, last = Fraction(low), Fraction(max(low, high))
    wide = last - first > 1000 * error
    inside = roundest(first, last) if wide else simplest(first - error, last + error)
    outside = simplest(first - error, first + Fraction(10 * TIGHTEN * unit))
    if outside.denominator * 1000 < inside.denominator:
        return outside, outside > inside
    return inside, False
