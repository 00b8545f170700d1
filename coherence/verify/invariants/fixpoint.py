"""Finds bounds that no edge can leave, for given directions: a post-fixpoint of the abstract step F, in floats.

F(s) is, per mode and direction, the largest value after one edge from within the bounds s, or at a
start.  Each value is the optimum of a linear program; its multipliers (the *policy*) bound F by an
affine map from above, for every s.  So the least s that the policy maps into itself, one linear
program, is a post-fixpoint of F itself: it replaces the endless iteration s := F(s).

Up: from what runs saw, a little widened, apply policy after policy; a bound that no policy can
hold goes to infinity.  Down: repeat with the policy of the bounds just found.

SOURCE: A. Costan, S. Gaubert, E. Goubault, M. Martel, S. Putot, A Policy Iteration Algorithm for
Computing Fixed Points in Static Analysis of Programs, CAV 2005; T. Gawlitza, H. Seidl, ESOP 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.base.clock import left_until
from coherence.verify.invariants.linear_program import Sparse, minimise
from coherence.verify.invariants.numeric import Flags, Floats, Ints, Numeric
from coherence.verify.invariants.support import Optima, corner, maximise

APART = 1e-9  # polyhedra whose rows miss each other by less are not apart
TOUCHING = -1e-7  # the same, for a guess in which sets that only touch count as apart
_STILL = 1e-8
_ROUNDS_UP, _ROUNDS_DOWN = 14, 5
_ELASTIC = 1e4  # price of a bound that the policy cannot hold
_FAR = 1e4  # scaled bounds beyond this are given up


@dataclass(frozen=True, slots=True)
class TemplateBounds:
    """`support` (M, R): +inf is no bound; `reached` (M,): the modes that are not `false`."""

    reached: Flags
    support: Floats


@dataclass(frozen=True, slots=True)
class Emptiness:
    """Per polyhedron: by how much its rows miss each other (negative: not empty), and the multipliers of the rows."""

    margin: Floats
    basis: Ints
    multiplier: Floats


@dataclass(frozen=True, slots=True)
class Image:
    """F(bounds) and its policy.  `edges`: those from reached modes; `open_`: those that can be taken."""

    next: TemplateBounds
    edges: Ints
    closed: Emptiness
    open_: Ints
    policy: Optima


class Abstraction:
    """The abstract step of a numeric system for given directions (R, n), |direction| = 1 in the frame.

    `apart`: by how much the rows of a guard and of the bounds must miss each other for the edge to be closed.
    `deadline`, by `clock.now`: after it no bounds are found.
    """

    def __init__(self, numeric: Numeric, directions: Floats, *, apart: float, deadline: float) -> None:
        self.numeric, self.directions, self.apart, self.deadline = numeric, directions, apart, deadline
        self.rows = _under(directions, numeric.guard.normal)
        self.objective = directions @ numeric.matrix
        self.constant = numeric.offset @ directions.T
        self.start = _start(numeric, directions)
        self.bad_rows = _under(directions, numeric.bad.normal)
        self._bases = corner(self.objective, self.rows.shape[1])
        self._empty = corner(_outward(len(self.rows), self.rows.shape[2]), self.rows.shape[1])

    @property
    def left(self) -> float:
        """Returns the seconds until the deadline."""
        return left_until(self.deadline)

    def image(self, bounds: TemplateBounds) -> Image:
        """Returns one abstract step, with the multipliers that bound it."""
        numeric = self.numeric
        edges = np.nonzero(bounds.reached[numeric.source])[0]
        limits = np.concatenate([bounds.support[numeric.source[edges]], numeric.guard.bound[edges]], axis=1)
        closed = emptiness(self.rows[edges], limits, self._empty[edges])
        self._empty[edges] = closed.basis[:, None, :]
        can = closed.margin <= self.apart
        open_ = edges[can]
        slack = 2 * np.maximum(closed.margin[can], 0.0)[:, None]  # polyhedra that only touch
        policy = maximise(self.rows[open_], limits[can] + slack, self.objective[open_], self._bases[open_])
        self._bases[open_] = policy.basis
        return Image(self._join(open_, policy.value + self.constant[open_]), edges, closed, open_, policy)

    def _join(self, open_: Ints, value: Floats) -> TemplateBounds:
        support, reached = self.start.support.copy(), self.start.reached.copy()
        target = self.numeric.target[open_]
        reached[target] = True
        np.maximum.at(support, target, np.where(value > _FAR, np.inf, value))
        return TemplateBounds(reached, support)

    def unsafe(self, bounds: TemplateBounds) -> Emptiness:
        """Returns, for each bad set in a reached mode, by how much the bounds miss it; other bad sets: +inf."""
        mode = self.numeric.bad_mode
        limits = np.concatenate([np.maximum(bounds.support[mode], -_FAR), self.numeric.bad.bound], axis=1)
        gaps = emptiness(self.bad_rows, limits)
        return Emptiness(np.where(bounds.reached[mode], gaps.margin, np.inf), gaps.basis, gaps.multiplier)


def _under(directions: Floats, guard: Floats) -> Floats:
    """Returns the rows of the template above the rows of each guard: (E, R + G, N)."""
    template = np.zeros((len(guard), len(directions), guard.shape[2]))
    template[:, :, : directions.shape[1]] = directions
    return np.concatenate([template, guard], axis=1)


def _start(numeric: Numeric, directions: Floats) -> TemplateBounds:
    """Returns the bounds of the initial sets."""
    sets, normal = len(numeric.initial_mode), numeric.initial.normal
    objective = np.broadcast_to(directions, (sets, *directions.shape)).copy()
    some = emptiness(normal, numeric.initial.bound).margin <= APART
    value = maximise(normal[some], numeric.initial.bound[some], objective[some]).value
    support, reached = np.full((len(numeric.modes), len(directions)), -np.inf), np.zeros(len(numeric.modes), dtype=bool)
    reached[numeric.initial_mode[some]] = True
    np.maximum.at(support, numeric.initial_mode[some], value)
    return TemplateBounds(reached, support)


def _outward(count: int, width: int) -> Floats:
    """Returns the objective -t of the emptiness test, t being one more coordinate."""
    objective = np.zeros((count, 1, width + 1))
    objective[:, :, width] = -1.0
    return objective


def emptiness(rows: Floats, limits: Floats, start: Ints | None = None) -> Emptiness:
    """Returns min t with rows x <= limits + t: positive exactly when the polyhedron is empty."""
    lifted = np.concatenate([rows, np.full((*rows.shape[:2], 1), -1.0)], axis=2)
    optima = maximise(lifted, limits, _outward(len(rows), rows.shape[2]), start)
    return Emptiness(-optima.value[:, 0], optima.basis[:, 0], optima.multiplier[:, 0])


def post_fixpoint(abstraction: Abstraction, seen: Floats, widen: float) -> tuple[TemplateBounds, Image] | None:
    """Returns bounds that the abstract step keeps, found from what runs saw (M, R; -inf: nothing), and their image."""
    start = abstraction.start
    bounds = _up(abstraction, TemplateBounds(start.reached, np.maximum(seen, start.support) + widen))
    return None if bounds is None else _down(abstraction, bounds)


def _up(abstraction: Abstraction, bounds: TemplateBounds) -> TemplateBounds | None:
    """Raises the bounds until the abstract step keeps them; a row that two policies cannot hold is given up."""
    failures, rounds = np.zeros(bounds.support.shape, dtype=np.int64), 0
    while rounds < _ROUNDS_UP and abstraction.left > 0:
        image = abstraction.image(bounds)
        if (image.next.reached & ~bounds.reached).any():
            bounds = TemplateBounds(bounds.reached | image.next.reached, np.maximum(bounds.support, image.next.support))
            continue
        rounds += 1
        if _within(image.next, bounds):
            return bounds
        gone = np.isposinf(image.next.support) & np.isfinite(bounds.support)
        if not gone.any():
            held = _held(abstraction, bounds, image, elastic=False)
            if held is not None:
                bounds = held[0]
                continue
            gone = _hopeless(abstraction, bounds, image, failures) if rounds > 1 else gone
        bounds = _widened(bounds, image.next, gone)
    return None


def _hopeless(abstraction: Abstraction, bounds: TemplateBounds, image: Image, failures: Ints) -> Flags:
    """Returns the rows that a second policy cannot hold; `failures` counts."""
    held = _held(abstraction, bounds, image, elastic=True)
    if held is not None:
        failures += held[1]
        return held[1] & (failures > 1)
    return image.next.support > bounds.support + _STILL


def _within(inner: TemplateBounds, outer: TemplateBounds) -> bool:
    if (inner.reached & ~outer.reached).any():
        return False
    return bool((inner.support <= outer.support + _STILL)[inner.reached].all())


def _widened(bounds: TemplateBounds, image: TemplateBounds, gone: Flags) -> TemplateBounds:
    """Returns the hull of both, a little more where the step led outside, no bound where it is given up."""
    grown = np.where(image.support > bounds.support + _STILL, image.support + 0.05, bounds.support)
    return TemplateBounds(bounds.reached | image.reached, np.where(gone, np.inf, grown))


def _down(abstraction: Abstraction, bounds: TemplateBounds) -> tuple[TemplateBounds, Image] | None:
    """Lowers bounds that the abstract step keeps, policy after policy."""
    for _ in range(_ROUNDS_DOWN):
        if abstraction.left <= 0:
            return None
        held = _held(abstraction, bounds, abstraction.image(bounds), elastic=False)
        if held is None:
            break
        least, still = held[0], _within(bounds, held[0])
        bounds = least
        if still:
            break
    image = abstraction.image(bounds)
    return (bounds, image) if _within(image.next, bounds) else None


def _held(
    abstraction: Abstraction, bounds: TemplateBounds, image: Image, *, elastic: bool
) -> tuple[TemplateBounds, Flags] | None:
    """Returns the least bounds that the policy of `image` keeps, and the rows that it cannot keep (if `elastic`)."""
    support = image.next.support
    finite = np.isfinite(support) & image.next.reached[:, None]
    number = np.where(finite, np.cumsum(finite).reshape(finite.shape) - 1, -1)
    count = int(finite.sum())
    rows = policy_rows(abstraction, bounds, image, number)
    least, group, point = abstraction.start.support[finite], rows.column[: len(rows.least)], support[finite]
    lower, cost, upper = np.where(np.isfinite(least), least, -10 * _FAR), np.ones(count), np.full(count, np.inf)
    if elastic:
        rows, cost = _elastic(rows, count), np.concatenate([cost, np.full(count, _ELASTIC)])
        lower, upper = np.concatenate([lower, np.zeros(count)]), np.full(2 * count, np.inf)
        point = np.concatenate([point, np.zeros(count)])
    optimum = minimise(cost, lower, upper, rows, group=group, point=point, seconds=abstraction.left)
    if optimum is None:
        return None
    result, broken = support.copy(), np.zeros(support.shape, dtype=bool)
    result[finite] = optimum[:count]
    if elastic:
        broken[finite] = optimum[count:] > _STILL
    return TemplateBounds(image.next.reached, result), broken


def policy_rows(abstraction: Abstraction, bounds: TemplateBounds, image: Image, number: Ints) -> Sparse:
    """Returns the rows s[target, j] - multipliers . s[source] >= constant, for each open edge and numbered row.

    `number` (M, R) is the column of a row, or -1: as a target it asks nothing, as a source it keeps its bound.
    """
    numeric, template = abstraction.numeric, len(abstraction.directions)
    e, j = np.nonzero(number[numeric.target[image.open_]] >= 0)
    edge = image.open_[e]
    basis, weight = image.policy.basis[e, j], image.policy.multiplier[e, j]
    source = numeric.source[edge][:, None]
    of_template = basis < template
    column = np.where(of_template, number[source, np.where(of_template, basis, 0)], -1)
    limit = limits_of(abstraction, bounds, edge[:, None], basis)
    least = abstraction.constant[edge, j] + np.where((column < 0) & (weight != 0), weight * limit, 0.0).sum(axis=1)
    used = (column >= 0) & (weight != 0)
    k = np.arange(len(edge))
    row = np.concatenate([k, np.nonzero(used)[0]])
    columns = np.concatenate([number[numeric.target[edge], j], column[used]])
    return Sparse(row, columns, np.concatenate([np.ones(len(edge)), -weight[used]]), least)


def limits_of(abstraction: Abstraction, bounds: TemplateBounds, edge: Ints, basis: Ints) -> Floats:
    """Returns the right-hand sides of rows `basis` of edges `edge`; rows of the box count 0, nothing leans on them."""
    numeric, template = abstraction.numeric, len(abstraction.directions)
    guards = numeric.guard.bound.shape[1]
    own = bounds.support[numeric.source[edge], np.minimum(basis, max(0, template - 1))] if template else np.zeros(1)
    of_guard = np.clip(basis - template, 0, max(0, guards - 1))
    guard = numeric.guard.bound[edge, of_guard] if guards else np.zeros(1)
    return np.where(basis < template, own, np.where(basis < template + guards, guard, 0.0))


def _elastic(rows: Sparse, count: int) -> Sparse:
    """Returns the same rows, each softened by a column of its target."""
    first = np.arange(len(rows.least))
    target = rows.column[: len(first)]
    return Sparse(
        np.concatenate([rows.row, first]), np.concatenate([rows.column, target + count]),
        np.concatenate([rows.value, np.ones(len(first))]), rows.least,
    )  # fmt: skip
