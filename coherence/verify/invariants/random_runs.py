"""Samples random runs of a transition system, many at once: where it goes, and how large its numbers are.

Starts and choices prefer corners of their sets; among the edges that may be taken, each run takes
one at random.  Runs see part of what can happen: they guess an invariant, they never prove one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.verify.invariants.numeric import CoordinateFrame, Floats, HalfspaceRows, Ints, Numeric, lower, magnitudes
from coherence.verify.invariants.support import maximise, vertices
from coherence.verify.systems.piecewise_affine import TransitionSystem

SEED = 20
_TIGHTEN, _SLACK = 1e-11, 5e-12  # `<` is kept apart from `<=` by less than anything that matters
_CLEAR = 1e-7  # a run counts as bad when it is this far inside a bad set
_WIDE = 1e6
_NONE = -1


@dataclass(frozen=True, slots=True)
class Runs:
    """`mode` (T, S), `point` (T, S, n) in the frame of the numeric system, `edge` (T - 1, S; -1: none)."""

    numeric: Numeric
    mode: Ints
    point: Floats
    edge: Ints
    choice: Floats


def sample(system: TransitionSystem, *, samples: int, steps: int) -> Runs:
    """Returns runs of `steps` steps from about `samples` starts."""
    width = len(system.variables) + len(system.choices)
    numeric = lower(system, CoordinateFrame(np.zeros(width), magnitudes(system)), tighten=_TIGHTEN)
    rng = np.random.default_rng(SEED)
    mode, point = _starts(numeric, samples, rng)
    modes, points = [mode], [point]
    edges: list[Ints] = []
    choices: list[Floats] = []
    outgoing = _outgoing(numeric)
    for _ in range(steps):
        edge, choice = _choose(numeric, outgoing, mode, point, rng)
        mode, point = _move(numeric, edge, mode, point, choice)
        modes.append(mode)
        points.append(point)
        edges.append(edge)
        choices.append(choice)
    none = np.zeros((0, len(mode)), dtype=np.int64)
    return Runs(numeric, np.array(modes), np.array(points), np.array(edges) if edges else none, np.array(choices))


def frame_of(runs: Runs) -> CoordinateFrame:
    """Returns coordinates in which what the runs visited is about [-1, 1] in each variable."""
    old, states = runs.numeric.frame, runs.numeric.states
    seen = [runs.point.reshape(-1, states)[:, i] for i in range(states)]
    seen += [runs.choice.reshape(-1, len(old.scale) - states)[:, j] for j in range(len(old.scale) - states)]
    low = np.array([column.min(initial=np.inf) for column in seen])
    high = np.array([column.max(initial=-np.inf) for column in seen])
    known = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    half, most = (high - low) / 2, np.maximum(np.abs(low), np.abs(high))
    half = np.where(half > 1e-3 * most, half, np.where(most > 0, most, 1.0))
    return CoordinateFrame(old.centre + old.scale * (low + high) / 2, old.scale * half)


@dataclass(frozen=True, slots=True)
class BadRun:
    """The shortest run that is clearly inside a bad set: edges, first point and choices, in raw floats."""

    edges: tuple[int, ...]
    start: Floats
    chosen: Floats


def bad_run(runs: Runs) -> BadRun | None:
    """Returns the shortest run that is clearly inside a bad set, if one is."""
    numeric, best = runs.numeric, None
    for mode, normal, bound in zip(numeric.bad_mode, numeric.bad.normal, numeric.bad.bound, strict=True):
        depth = (bound - runs.point @ normal.T).min(axis=2, initial=np.inf)
        times, which = np.nonzero((runs.mode == mode) & (depth > _CLEAR))
        if len(times) and (best is None or times[0] < best[0]):
            best = int(times[0]), int(which[0])
    if best is None:
        return None
    length, which_run = best
    frame, n = numeric.frame, numeric.states
    taken = [k for k in range(length) if runs.edge[k, which_run] != _NONE]
    start = runs.point[0, which_run] * frame.scale[:n] + frame.centre[:n]
    width = len(frame.scale) - n
    drawn = runs.choice[taken, which_run] if taken else np.zeros((0, width))
    edges = tuple(int(runs.edge[k, which_run]) for k in taken)
    return BadRun(edges, start, drawn * frame.scale[n:] + frame.centre[n:])


def _starts(numeric: Numeric, samples: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Returns corners of the initial sets, and mixtures of corners."""
    sets, states = len(numeric.initial_mode), numeric.states
    if not sets:
        return np.zeros(0, dtype=np.int64), np.zeros((0, states))
    each = max(12, samples // sets)
    axes = np.concatenate([np.eye(states), -np.eye(states), rng.normal(size=(each, states))])
    objective = np.broadcast_to(axes, (sets, *axes.shape)).copy()
    normal, bound = numeric.initial.normal, numeric.initial.bound
    optima = maximise(normal, bound, objective)
    corner = np.clip(vertices(normal, bound, optima), -2.0, 2.0)
    mixed = np.einsum("skc,scn->skn", rng.dirichlet(np.full(len(axes), 0.1), size=(sets, each)), corner)
    point = np.concatenate([corner[:, : 2 * states + each // 2], mixed], axis=1)
    keep = ((point @ normal.transpose(0, 2, 1)) <= bound[:, None, :] + 1e-9).all(axis=2)
    mode = np.broadcast_to(numeric.initial_mode[:, None], keep.shape)
    return mode[keep], point[keep]


def _outgoing(numeric: Numeric) -> Ints:
    """Returns the edges out of each mode (M, most), filled up with -1."""
    lists: list[list[int]] = [[] for _ in numeric.modes]
    for edge, source in enumerate(numeric.source):
        lists[source].append(edge)
    most = max((len(edges) for edges in lists), default=0)
    filled = [edges + [_NONE] * (most - len(edges)) for edges in lists]
    return np.array(filled, dtype=np.int64).reshape(len(lists), most)


def _choose(
    numeric: Numeric, outgoing: Ints, mode: Ints, point: Floats, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Returns, for each run, an edge that may be taken (or -1), and values for its choices."""
    states, runs = numeric.states, len(mode)
    edges = outgoing[mode]
    if not edges.size:
        return np.full(runs, _NONE), np.zeros((runs, len(numeric.frame.scale) - states))
    guard = HalfspaceRows(numeric.guard.normal[edges], numeric.guard.bound[edges])
    room = guard.bound - np.einsum("segn,sn->seg", guard.normal[..., :states], point)
    choice, room = _pick(guard.normal[..., states:], room, rng)
    open_ = (edges != _NONE) & (room >= -_SLACK).all(axis=2)
    taken = np.where(open_, rng.random(open_.shape), -1.0).argmax(axis=1)
    k = np.arange(runs)
    return np.where(open_[k, taken], edges[k, taken], _NONE), choice[k, taken]


def _pick(normal: Floats, room: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Returns choices one after another, each within the rows in which it is the last one; `room` that is left."""
    count = normal.shape[-1]
    choice = np.zeros((*room.shape[:2], count))
    last = np.where(normal != 0, np.arange(count), -1).max(axis=-1, initial=-1)
    for j in range(count):
        slope = np.where(last == j, normal[..., j], 0.0)
        ratio = room / np.where(slope != 0, slope, 1.0)
        high = np.where(slope > 0, ratio, np.inf).min(axis=-1, initial=np.inf)
        low = np.where(slope < 0, ratio, -np.inf).max(axis=-1, initial=-np.inf)
        low, high = _finite(low, high)
        share = np.clip(rng.uniform(-0.5, 1.5, size=low.shape), 0.0, 1.0)
        choice[..., j] = low + share * (high - low)
        room = room - normal[..., j] * choice[..., j, None]
    return choice, room


def _finite(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Returns an interval to draw from, where one or both ends are missing."""
    bottom = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0, -1.0))
    top = np.where(np.isfinite(high), high, bottom + 2.0)
    return bottom, top


def _move(numeric: Numeric, edge: Ints, mode: Ints, point: Floats, choice: Floats) -> tuple[Ints, Floats]:
    if not len(numeric.source):
        return mode, point
    full = np.concatenate([point, choice], axis=1)
    after = np.einsum("sij,sj->si", numeric.matrix[edge], full) + numeric.offset[edge]
    stay = (edge == _NONE) | (np.abs(after).max(axis=1, initial=0.0) > _WIDE)
    return np.where(stay, mode, numeric.target[edge]), np.where(stay[:, None], point, after)
