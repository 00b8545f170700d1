"""Finds which rows of a guessed invariant its proof needs, and how far each bound may move.

A row is needed when its multiplier carries the safety of a bad set, the emptiness of an edge that
must not be taken, or another needed row.  The needed bounds are then moved apart as far as the
policy allows (one linear program), which leaves each an interval to take a simple number from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.verify.invariants.directions import Direction
from coherence.verify.invariants.fixpoint import Abstraction, Emptiness, Image, TemplateBounds, policy_rows
from coherence.verify.invariants.linear_program import Sparse, minimise, stack
from coherence.verify.invariants.numeric import TIGHTEN, Flags, Floats, Ints

_ROOM = ((0.002, 100.0), (0.01, 10.0), (0.04, 1.0))  # room for a bound, in the frame, and what it is worth
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class InvariantGuess:
    """Bounds kept by the abstract step and apart from the bad sets, with the multipliers that say so."""

    abstraction: Abstraction
    directions: tuple[Direction, ...]
    bounds: TemplateBounds
    image: Image
    unsafe: Emptiness


def needed(guess: InvariantGuess) -> Flags:
    """Returns which rows (M, R) the proof rests on."""
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


def _must_stay_closed(guess: InvariantGuess, need: Flags) -> Flags:
    """Returns the closed edges whose target is false, or has rows to be kept."""
    target = guess.abstraction.numeric.target[guess.image.edges]
    matters = ~guess.bounds.reached[target] | need[target].any(axis=1)
    return (guess.image.closed.margin > guess.abstraction.apart) & matters


def _carry(need: Flags, mode: Ints, empty: Emptiness, which: Flags) -> None:
    _mark(need, mode[which], empty.basis[which], empty.multiplier[which])


def _mark(need: Flags, mode: Ints, basis: Ints, weight: Floats) -> None:
    used = (basis < need.shape[1]) & (weight != 0)
    k, i = np.nonzero(used)
    need[mode[k], basis[k, i]] = True


def room(guess: InvariantGuess, need: Flags) -> tuple[Floats, Floats] | None:
    """Returns intervals (M, R each) such that any choice of one bound from each is kept by the policy."""
    number = _numbered(guess, need)
    count = int(number.max(initial=-1)) + 1
    held = policy_rows(guess.abstraction, guess.bounds, guess.image, number)
    floor = _floor(guess, need, number)
    apart = (_stay_apart(number, *case) for case in _empty_cases(guess, need))
    rows = stack(_with_room(held, count), _with_room(floor, count), *apart)
    least = np.full(count, -np.inf)
    np.maximum.at(least, number[need], guess.bounds.support[need] - _SAME)
    lower = np.concatenate([least, np.zeros(len(_ROOM) * count)])
    upper = np.concatenate([np.full(count, np.inf), *(np.full(count, most) for most, _ in _ROOM)])
    cost = np.concatenate([np.full(count, 1e-3), *(np.full(count, -worth) for _, worth in _ROOM)])
    group = np.concatenate([held.column[: len(held.least)], count + np.arange(len(rows.least) - len(held.least))])
    optimum = minimise(cost, lower, upper, rows, group=group, point=lower, seconds=guess.abstraction.left)
    if optimum is None:
        return None
    low, high = guess.bounds.support.copy(), guess.bounds.support.copy()
    size = optimum[count:].reshape(len(_ROOM), count).sum(axis=0)
    low[need], high[need] = (optimum[:count] - size)[number[need]], optimum[:count][number[need]]
    return low, high


def _numbered(guess: InvariantGuess, need: Flags) -> Ints:
    """Returns a number for each needed row, -1 for the others.

    Rows that edges hand round unchanged (a variable that keeps its value from mode to mode and back)
    must have one and the same bound: they share a number.
    """
    plain = np.where(need, np.cumsum(need).reshape(need.shape) - 1, -1)
    leads = _unchanged(policy_rows(guess.abstraction, guess.bounds, guess.image, plain))
    number, last = np.full(need.shape, -1), -1
    for j in np.nonzero(need.any(axis=0))[0]:
        modes = np.nonzero(need[:, j])[0]
        edge = np.array([[(plain[a, j], plain[b, j]) in leads for b in modes] for a in modes])
        reach = edge | np.eye(len(modes), dtype=bool)
        for _ in range(len(modes).bit_length()):
            reach = (reach.astype(int) @ reach.astype(int)) > 0
        first = (reach & reach.T).argmax(axis=1)
        _, label = np.unique(first, return_inverse=True)
        number[modes, j] = last + 1 + label
        last = int(number.max())
    return number


def _unchanged(rows: Sparse) -> set[tuple[int, int]]:
    """Returns the (source, target) of rows that say no more than s[target] >= s[source]."""
    k = len(rows.least)
    entries = np.bincount(rows.row[k:], minlength=k)  # the first k entries are the targets
    plain = np.abs(rows.value[k:] + 1) < _SAME
    alone = plain & (entries[rows.row[k:]] == 1) & (np.abs(rows.least[rows.row[k:]]) < _SAME)
    return set(zip(rows.column[k:][alone].tolist(), rows.column[:k][rows.row[k:][alone]].tolist(), strict=True))


def _floor(guess: InvariantGuess, need: Flags, number: Ints) -> Sparse:
    """Returns the bounds of the initial sets."""
    m, j = np.nonzero(need & np.isfinite(guess.abstraction.start.support))
    return Sparse(np.arange(len(m)), number[m, j], np.ones(len(m)), guess.abstraction.start.support[m, j])


def _with_room(rows: Sparse, count: int) -> Sparse:
    """Returns rows s - ... >= least, of which the first entries are the targets, with s lowered by its room.

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


def _empty_cases(guess: InvariantGuess, need: Flags) -> list[tuple[Emptiness, Ints, Floats, Flags]]:
    """Returns bad sets and closed edges: multipliers, mode, bounds of the own rows, and which of them count."""
    numeric, edges = guess.abstraction.numeric, guess.image.edges
    bad = (guess.unsafe, numeric.bad_mode, numeric.bad.bound, guess.bounds.reached[numeric.bad_mode])
    closed = (guess.image.closed, numeric.source[edges], numeric.guard.bound[edges], _must_stay_closed(guess, need))
    return [bad, closed]


def _stay_apart(number: Ints, empty: Emptiness, mode: Ints, bound: Floats, which: Flags) -> Sparse:
    """Returns rows by which moving the bounds uses at most half of the margin (nearly none where a `<` makes it)."""
    template, margin = number.shape[1], empty.margin[which]
    basis, weight, mode, bound = empty.basis[which], empty.multiplier[which], mode[which], bound[which]
    number = np.concatenate([number, np.full((len(number), 1), -1)], axis=1)  # the last one for rows of the guard
    column = number[mode[:, None], np.minimum(basis, template)]
    own = (basis >= template) & (basis < template + bound.shape[1])
    bound = np.concatenate([bound, np.zeros((len(bound), 1))], axis=1)  # the last one for rows that are not its own
    limit = np.take_along_axis(bound, np.where(own, basis - template, bound.shape[1] - 1), axis=1)
    keep = np.where(margin > 10 * TIGHTEN, 0.5, 0.999)
    k, i = np.nonzero((column >= 0) & (weight != 0))
    return Sparse(k, column[k, i], -weight[k, i], (weight * limit).sum(axis=1) + keep * margin)
