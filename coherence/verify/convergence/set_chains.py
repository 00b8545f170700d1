"""Proves `eventually` and `eventually_always` by a chain of sets, each of which one step takes into the next.

The sets are bounds of a template per mode, guessed in floats from the largest inward and rounded
outward.  A state counts its steps: at level k it lies in the k-th set, and the last level keeps
itself.  So what holds on the last set holds from then on in every run, with a bound in steps; the
level is the ranking function.  The claim is the safety of the system with levels, and its
obligations are decided like any invariant's: only z3's answers make a proof.

SOURCE: level-wise ranking: B. Cook, A. Podelski, A. Rybalchenko, Proving program termination, CACM 2011.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coherence.base.clock import is_over
from coherence.verify.invariants.directions import Direction, template
from coherence.verify.invariants.fixpoint import APART, Abstraction, TemplateBounds, post_fixpoint
from coherence.verify.invariants.numeric import TIGHTEN, Floats, Ints, lower
from coherence.verify.invariants.prover import SAMPLES, STEPS
from coherence.verify.invariants.random_runs import frame_of, sample
from coherence.verify.invariants.smtlib import Invariant
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, Polyhedron, TransitionSystem

MOST_LEVELS, MOST_CLAIMS = 600, 24_000
OUT = 1e-5  # by how much (in the frame) a bound is moved outward before it is rounded
_STILL = 2e-5


@dataclass(frozen=True, slots=True)
class Descent:
    """After `levels` steps every run is where it must be; `certificate` was answered unsat by z3."""

    levels: int
    certificate: str
    quadratic: bool = False  # by a Lyapunov function at the end


class ChainFrame:
    """The system in the coordinates of its runs, with the directions of one template."""

    def __init__(self, plain: TransitionSystem, goal: TransitionSystem, effort: int, deadline: float) -> None:
        runs = sample(plain, samples=SAMPLES, steps=STEPS)
        self.numeric = lower(goal, frame_of(runs), tighten=TIGHTEN)
        self.inner = lower(plain, self.numeric.frame, tighten=TIGHTEN)
        n, old, new = self.inner.states, runs.numeric.frame, self.inner.frame
        raw = runs.point.reshape(runs.mode.size, n) * old.scale[:n] + old.centre[:n]
        points = (raw - new.centre[:n]) / new.scale[:n]
        self.directions = template(goal, self.numeric, points, effort=effort)
        rows = np.array([[float(c) for c in d] for d in self.directions]).reshape(len(self.directions), n)
        scaled = rows * new.scale[:n]
        self.size = np.linalg.norm(scaled, axis=1)
        self.offset = rows @ new.centre[:n]
        unit = scaled / self.size[:, None]
        self.abstraction = Abstraction(self.inner, unit, apart=APART, deadline=deadline)
        self.seen = _seen(runs.mode.reshape(-1), points, unit, len(self.inner.modes))

    def rational(self, bound: float, row: int) -> Fraction:
        """Returns a decimal above a scaled bound."""
        outward = (bound + OUT) * self.size[row] + self.offset[row]
        pitch = Fraction(10) ** math.floor(math.log10(max(self.size[row] * OUT, 1e-300)))
        return Fraction(math.ceil(Fraction(outward) / pitch)) * pitch

    def back(self, bound: Fraction, row: int) -> float:
        """Returns a rational bound in the frame."""
        return float((float(bound) - self.offset[row]) / self.size[row])


def _seen(mode: Ints, points: Floats, unit: Floats, modes: int) -> Floats:
    seen = np.full((modes, len(unit)), -np.inf)
    for m in np.unique(mode):
        seen[int(m)] = (points[mode == m] @ unit.T).max(axis=0)
    return seen


Level = dict[str, Polyhedron]


def chain_of_sets(
    plain: TransitionSystem, goal: TransitionSystem, broken: str, effort: int, deadline: float
) -> list[Level] | str:
    """Returns sets, each led into the next by one step and the last keeping itself; or why none were found."""
    frame = ChainFrame(plain, goal, effort, deadline)
    fixpoint = next(
        (f for w in (0.02, 0.3) if (f := post_fixpoint(frame.abstraction, frame.seen, w)) is not None), None
    )
    if fixpoint is None:
        return "no bounded set that the edges keep was found"
    exact = rounded(frame, fixpoint[0], None)
    levels = [level_of(frame, exact)]
    abstraction = frame.abstraction
    abstraction.start = TemplateBounds(
        np.zeros_like(abstraction.start.reached), np.full_like(abstraction.start.support, -np.inf)
    )
    while len(levels) <= MOST_LEVELS and len(levels) * max(1, len(plain.edges)) <= MOST_CLAIMS:
        if is_over(deadline):
            return f"the time is over after {len(levels)} steps"
        bounds = bounds_of(frame, exact)
        if _good(frame, bounds, goal, broken):
            return levels
        following = rounded(frame, abstraction.image(bounds).next, exact)
        if _same(frame, exact, following):
            return f"after {len(levels) - 1} steps the sets shrink no more, and they are not yet inside"
        exact = following
        levels.append(level_of(frame, exact))
    return f"the sets are not yet inside after {len(levels)} steps"


Exact = dict[int, tuple[Fraction | None, ...]]


def rounded(frame: ChainFrame, bounds: TemplateBounds, before: Exact | None) -> Exact:
    """Returns, per reached mode, its bounds as decimals (None: no bound), never above those of the level before."""
    decimals: Exact = {}
    for m in np.nonzero(bounds.reached)[0].tolist():
        row = [frame.rational(b, j) if np.isfinite(b) else None for j, b in enumerate(bounds.support[m].tolist())]
        old = before.get(m) if before is not None else None
        if before is not None and old is None:
            continue  # a mode that the level before does not reach cannot be reached from within it
        if old is not None:
            row = [a if b is None else b if a is None else min(a, b) for a, b in zip(row, old, strict=True)]
        decimals[m] = tuple(row)
    return decimals


def bounds_of(frame: ChainFrame, exact: Exact) -> TemplateBounds:
    """Returns the decimals as bounds in the frame."""
    modes, rows = len(frame.inner.modes), len(frame.directions)
    reached, support = np.zeros(modes, dtype=bool), np.full((modes, rows), -np.inf)
    for m, row in exact.items():
        reached[m] = True
        support[m] = [np.inf if b is None else frame.back(b, j) for j, b in enumerate(row)]
    return TemplateBounds(reached, support)


def _same(frame: ChainFrame, old: Exact, new: Exact) -> bool:
    if old.keys() != new.keys():
        return False
    pairs = ((j, a, b) for m in old for j, (a, b) in enumerate(zip(old[m], new[m], strict=True)))
    return all(
        a == b or (a is not None and b is not None and frame.back(a, j) - frame.back(b, j) < _STILL)
        for j, a, b in pairs
    )


def _good(frame: ChainFrame, bounds: TemplateBounds, goal: TransitionSystem, broken: str) -> bool:
    """Decides whether the bounds seem to miss every bad set and to close every edge into the broken mode."""
    place = {mode: k for k, mode in enumerate(frame.inner.modes)}
    wide = len(frame.inner.frame.scale)
    full = np.concatenate(
        [frame.abstraction.directions, np.zeros((len(frame.directions), wide - frame.inner.states))], axis=1
    )
    cases = [
        (place.get(mode), frame.numeric.bad.normal[k], frame.numeric.bad.bound[k], False)
        for k, (mode, _) in enumerate(goal.bad)
    ]
    cases += [
        (place.get(edge.source), frame.numeric.guard.normal[k], frame.numeric.guard.bound[k], True)
        for k, edge in enumerate(goal.edges)
        if broken and edge.target == broken
    ]
    from coherence.verify.invariants.fixpoint import emptiness

    for mode, normal, bound, is_edge in cases:
        if mode is None or not bounds.reached[mode]:
            continue
        rows = full if is_edge else frame.abstraction.directions
        limits = np.concatenate([np.minimum(bounds.support[mode], 1e4), bound])
        if emptiness(np.concatenate([rows, normal])[None], limits[None]).margin[0] <= APART:
            return False
    return True


def level_of(frame: ChainFrame, exact: Exact) -> Level:
    """Returns the set of each reached mode, as rows."""
    return {frame.inner.modes[m]: tuple(_rows(frame.directions, row)) for m, row in exact.items()}


def _rows(directions: tuple[Direction, ...], bounds: tuple[Fraction | None, ...]) -> Iterator[Constraint]:
    for direction, bound in zip(directions, bounds, strict=True):
        if bound is not None:
            yield Constraint(LinearForm(direction, -bound), "<=")


# -- the system with levels ---------------------------------------------------------------------------


def named(chain: list[Level]) -> Invariant:
    """Returns the chain as an invariant of the system with levels."""
    modes = dict.fromkeys(mode for level in chain for mode in level)
    sets = {_at(mode, k): ((level[mode],) if mode in level else ()) for k, level in enumerate(chain) for mode in modes}
    return _Everywhere(sets)


class _Everywhere(dict[str, tuple[Polyhedron, ...]]):
    """An invariant in which a mode that is not named is never entered."""

    def __missing__(self, mode: str) -> tuple[Polyhedron, ...]:
        return ()


def _at(mode: str, level: int) -> str:
    return f"{mode} @{level}"


def levelled(plain: TransitionSystem, goal: TransitionSystem, broken: str, levels: int) -> TransitionSystem:
    """Returns the system that counts its steps up to the last level; bad states count at the last level only."""
    last = levels - 1
    edges = [
        AffineEdge(_at(e.source, k), _at(e.target, min(k + 1, last)), e.guard, e.update, e.label)
        for k in range(levels)
        for e in plain.edges
    ]
    caught = [e for e in goal.edges if broken and e.target == broken]
    edges += [AffineEdge(_at(e.source, last), broken, e.guard, e.update, e.label) for e in caught]
    initial = tuple((_at(mode, 0), rows) for mode, rows in plain.initial)
    bad = tuple((_at(mode, last), rows) for mode, rows in goal.bad if mode != broken)
    return TransitionSystem(
        plain.variables, plain.choices, initial, tuple(edges), (*bad, *(((broken, ()),) if caught else ()))
    )
