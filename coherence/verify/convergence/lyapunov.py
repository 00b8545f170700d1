"""Proves convergence by a quadratic Lyapunov function, where a chain of sets is too slow.

Near its rest a design runs through one cycle of modes, each of which it leaves by one affine edge.  Once round the
cycle is y -> A y about the rest.  With V(y) = y' P y, P > 0 and rho P - A' P A >= 0 in exact rationals, V shrinks by
rho < 1 each time round.  In V <= c0 no other edge can be taken, V <= c touches no bad set, and rho^N c0 <= c: so after
N rounds no run is bad.  The way into V <= c0 is a short chain of sets.  P is guessed in floats; every claim is written
as an SMT-LIB script about the exact numbers: sums of squares, signs, and linear arithmetic.

SOURCE: A. M. Lyapunov 1892; sums of squares as certificates: P. Parrilo, PhD thesis, Caltech 2000.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coherence.base.solver import joined
from coherence.verify.convergence.quadratic import (
    ONE,
    ZERO,
    Matrix,
    Vector,
    congruence,
    dot,
    form,
    ground,
    identity,
    linear,
    minus,
    solved,
    squares,
    times,
)
from coherence.verify.invariants.numeric import Floats
from coherence.verify.invariants.smtlib import number
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, Polyhedron, TransitionSystem

MOST_STATES, MOST_CYCLE, MOST_ROUNDS = 10, 64, 10**7
DIGITS = 10**7
PART = Fraction(1, 5)  # of the way from the square of the largest pole to 1 at which rho lies
SPARE = Fraction(999, 1000)


@dataclass(frozen=True, slots=True)
class Basin:
    """From a state of the set on, within `steps` steps no run is bad; the scripts that say so."""

    steps: int
    scripts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Round:
    """One cycle: where it passes and the affine map from the rest's neighbourhood at its start to each place."""

    modes: tuple[str, ...]
    edges: tuple[tuple[AffineEdge, ...], ...]  # out of each mode
    matrices: tuple[Matrix, ...]  # y at the start -> y at the mode; one more than modes: once round
    rests: tuple[Vector, ...]


def basin(
    system: TransitionSystem, goal: TransitionSystem, broken: str, level: Mapping[str, Polyhedron], open_: Iterable[int]
) -> Basin | str:  # fmt: skip
    """Returns a proof for the runs in the boxes of `level` (per mode), where only the edges `open_` seem open."""
    states = len(system.variables)
    if not 0 < states <= MOST_STATES:
        return f"a quadratic function is sought for at most {MOST_STATES} states"
    edges = [system.edges[k] for k in open_]
    rounds = _rounds(edges, level, states)
    if isinstance(rounds, str):
        return rounds
    scripts: list[str] = []
    steps = 0
    for cycle in rounds:
        part = _of_round(cycle, system, goal, broken, level)
        if isinstance(part, str):
            return part
        steps = max(steps, part.steps)
        scripts += part.scripts
    return Basin(steps, tuple(scripts))


def _rounds(edges: Sequence[AffineEdge], level: Mapping[str, Polyhedron], states: int) -> list[_Round] | str:
    """Returns the cycles that the open edges make, if there is one way out of every mode."""
    out: dict[str, list[AffineEdge]] = {}
    for edge in edges:
        out.setdefault(edge.source, []).append(edge)
    for mode in level:
        ways = {(e.target, e.update) for e in out.get(mode, [])}
        if len(ways) != 1:
            return f"{len(ways)} ways out of {mode}"
        if any(any(row.coefficients[states:]) for row in out[mode][0].update):
            return f"what follows {mode} is not determined"
    left, cycles = dict.fromkeys(level), list[_Round]()
    while left:
        first = next(iter(left))
        modes = [first]
        while (following := out[modes[-1]][0].target) != first:
            if following in modes or following not in level or len(modes) > MOST_CYCLE:
                return f"{first} is not come back to"
            modes.append(following)
        for mode in modes:
            if mode not in left:
                return f"{mode} is entered from two sides"
            del left[mode]
        cycle = _round(modes, [out[mode] for mode in modes], states)
        if cycle is None:
            return "there is no one place of rest"
        cycles.append(cycle)
    return cycles


def _round(modes: Sequence[str], edges: Sequence[Sequence[AffineEdge]], states: int) -> _Round | None:
    steps = [([list(row.coefficients[:states]) for row in ways[0].update], [row.constant for row in ways[0].update])
             for ways in edges]  # fmt: skip
    matrix = [[Fraction(int(i == j)) for j in range(states)] for i in range(states)]
    matrices, offset = [matrix], [ZERO] * states
    for part, constant in steps:
        matrix = times(part, matrix)
        offset = [dot(row, offset) + c for row, c in zip(part, constant, strict=True)]
        matrices.append(matrix)
    rest = solved(minus(matrices[0], matrix), offset)
    if rest is None:
        return None
    rests = [rest]
    for part, constant in steps[:-1]:
        rest = [dot(row, rest) + c for row, c in zip(part, constant, strict=True)]
        rests.append(rest)
    return _Round(tuple(modes), tuple(tuple(ways) for ways in edges), tuple(matrices), tuple(rests))


def _of_round(
    cycle: _Round, system: TransitionSystem, goal: TransitionSystem, broken: str, level: Mapping[str, Polyhedron]
) -> Basin | str:
    # a run that is anywhere in the cycle: the boxes of all its modes count, each from its own start
    scripts: list[str] = []
    steps = 0
    for start_cycle in (_turned(cycle, k) for k in range(len(cycle.modes))):
        part = _from_start(start_cycle, system, goal, broken, level[start_cycle.modes[0]])
        if isinstance(part, str):
            return part
        steps = max(steps, part.steps)
        scripts += part.scripts
    return Basin(steps, tuple(scripts))


def _turned(cycle: _Round, k: int) -> _Round:
    """Returns the same cycle, begun at its k-th mode."""
    if not k:
        return cycle
    order = [*range(k, len(cycle.modes)), *range(k)]
    turned = _round([cycle.modes[i] for i in order], [cycle.edges[i] for i in order], len(cycle.rests[0]))
    assert turned is not None  # the rest of the cycle is one from every mode of it
    return turned


def _from_start(
    cycle: _Round, system: TransitionSystem, goal: TransitionSystem, broken: str, start: Polyhedron
) -> Basin | str:
    reach = _reach(start, cycle.rests[0])
    if reach is None:
        return f"no bounds of {cycle.modes[0]}"
    guess = _function(cycle.matrices[-1], reach)
    if guess is None:
        return "not every pole lies inside the unit circle"
    matrix, rho = guess
    pairs = zip(matrix, reach, strict=True)
    most = sum((abs(p) * a * b for row, a in pairs for p, b in zip(row, reach, strict=True)), ZERO)
    names = [f"y{k}" for k in range(len(reach))]
    scripts = [_bounded(start, system, cycle.rests[0], reach), *_shrinks(cycle, matrix, rho, names)]
    scripts.append(_in_box(matrix, reach, most))
    closed = _all_closed(cycle, system, matrix, most, names)
    if isinstance(closed, str):
        return closed
    goals = _goals(cycle, goal, broken, matrix, names)
    if isinstance(goals, str):
        return goals
    least, goal_scripts = goals
    rounds = _rounds_until(rho, most, least)
    if rounds is None:
        return "too many rounds until it is inside"
    count, script = rounds
    return Basin((count + 1) * len(cycle.modes), (*scripts, *closed, *goal_scripts, script))


def _reach(start: Polyhedron, rest: Vector) -> Vector | None:
    """Returns how far a state of the set is from the rest, at most, variable by variable."""
    sides = [_sides(start, k) for k in range(len(rest))]
    distances = []
    for (low, high), middle in zip(sides, rest, strict=True):
        if low is None or high is None:
            return None
        distances.append(max(abs(high - middle), abs(low - middle)))
    return distances


def _sides(start: Polyhedron, index: int) -> tuple[Fraction | None, Fraction | None]:
    """Returns the lowest and highest value of a variable by the rows about it alone."""
    low: Fraction | None = None
    high: Fraction | None = None
    for row in start:
        c = row.linear.coefficients[index]
        if not c or any(d for k, d in enumerate(row.linear.coefficients) if k != index):
            continue
        edge = -row.linear.constant / c
        if c > 0 or row.relation == "==":
            high = edge if high is None else min(high, edge)
        if c < 0 or row.relation == "==":
            low = edge if low is None else max(low, edge)
    return low, high


def _function(matrix: Matrix, reach: Vector) -> tuple[Matrix, Fraction] | None:
    """Returns (P, rho) with P > 0 and rho P - A' P A >= 0, exactly; None where none was found."""
    from scipy.linalg import solve_discrete_lyapunov

    size = np.array([float(value) or 1.0 for value in reach])
    size = np.maximum(size, size.max() * 1e-6)
    scaled: Floats = np.array([[float(c) for c in row] for row in matrix]) * size[None, :] / size[:, None]
    pole = float(np.abs(np.linalg.eigvals(scaled)).max(initial=0.0))
    if pole >= 1:
        return None
    for part in (PART, Fraction(1, 2), Fraction(4, 5)):
        rho = Fraction(math.ceil((pole**2 + (1 - pole**2) * float(part)) * DIGITS), DIGITS)
        if rho >= 1:
            continue
        guess = solve_discrete_lyapunov((scaled / math.sqrt(float(rho))).T, np.eye(len(reach)))
        guess = guess / np.abs(guess).max() / np.outer(size, size)
        form_matrix = _rounded((guess + guess.T) / 2, size)
        if squares(form_matrix) is None or len(squares(form_matrix) or ()) < len(reach):
            continue
        if squares(minus([[rho * p for p in row] for row in form_matrix], congruence(form_matrix, matrix))) is not None:
            return form_matrix, rho
    return None


def _rounded(matrix: Floats, size: Floats) -> Matrix:
    """Returns nearby decimals, in the scale of the states."""
    scales = [Fraction(10) ** round(-math.log10(s)) for s in size.tolist()]
    return [
        [Fraction(round(float(matrix[i, j]) / float(a * b) * DIGITS), DIGITS) * a * b for j, b in enumerate(scales)]
        for i, a in enumerate(scales)
    ]


# -- the claims -----------------------------------------------------------------------------------------


def _bounded(start: Polyhedron, system: TransitionSystem, rest: Vector, reach: Vector) -> str:
    """Returns the script: every state of the set is within reach of the rest."""
    names = [f"x{k}" for k in range(len(rest))]
    rows = [_row(row, names) for row in start]
    near = [
        f"(and (<= (- x{k} {number(middle)}) {number(far)}) (<= (- {number(middle)} x{k}) {number(far)}))"
        for k, (middle, far) in enumerate(zip(rest, reach, strict=True))
    ]
    declared = "\n".join(f"(declare-const {name} Real)" for name in names)
    asserts = "\n".join(f"(assert {row})" for row in rows)
    comment = f"; bounds of {' '.join(system.variables)}"
    return f"{comment}\n(set-logic QF_LRA)\n{declared}\n{asserts}\n(assert (not (and {' '.join(near)})))\n(check-sat)\n"


def _row(row: Constraint, names: Sequence[str]) -> str:
    left = linear(row.linear.coefficients, names)
    relation = "=" if row.relation == "==" else row.relation
    return f"({relation} (+ {left} {number(row.linear.constant)}) 0.0)"


def _shrinks(cycle: _Round, matrix: Matrix, rho: Fraction, names: Sequence[str]) -> list[str]:
    """Returns the scripts: P > 0, and V after one round is at most rho V."""
    after = congruence(matrix, cycle.matrices[-1])
    positive, shrinks = squares(matrix), squares(minus([[rho * p for p in row] for row in matrix], after))
    assert positive is not None
    assert shrinks is not None
    mapped = [linear(row, names) for row in cycle.matrices[-1]]
    left = f"(- (* {number(rho)} {form(matrix, names)}) {form(matrix, mapped)})"
    return [
        identity("V is positive", form(matrix, names), positive, names),
        identity("V shrinks", left, shrinks, names),
    ]


def _in_box(matrix: Matrix, reach: Vector, most: Fraction) -> str:
    """Returns V <= sum |p_ij| r_i r_j where |y_i| <= r_i."""
    parts = [f"(* {number(abs(p))} {number(a)} {number(b)})" for row, a in zip(matrix, reach, strict=True)
             for p, b in zip(row, reach, strict=True)]  # fmt: skip
    return ground("V in the box", [f"(<= (+ {' '.join(parts)} 0.0) {number(most)})"])


@dataclass(frozen=True, slots=True)
class _Cut:
    """A row a . x + k REL 0 at a place of the cycle: with y from the start a' y + gap, and (a' y)^2 <= size V."""

    vector: Vector
    gap: Fraction
    size: Fraction
    strict: bool
    both: bool


def _cut(row: Constraint, cycle: _Round, place: int, matrix: Matrix) -> _Cut | None:
    """Returns the row as a cut about the start; None for rows about choices, or with no room at the rest."""
    states = len(cycle.rests[0])
    raw = list(row.linear.coefficients[:states])
    if any(row.linear.coefficients[states:]):
        return None
    gap = dot(raw, cycle.rests[place]) + row.linear.constant
    both = row.relation == "=="
    if gap == 0 or (gap < 0 and not both):
        return None
    columns = list(zip(*cycle.matrices[place], strict=True))
    vector = [dot(raw, column) for column in columns]
    image = solved(matrix, vector)
    if image is None:
        return None
    return _Cut(vector, abs(gap), dot(vector, image), row.relation == "<", both)


def _apart(cut: _Cut, least: Fraction, matrix: Matrix, name: str, names: Sequence[str]) -> str | None:
    """Returns a script: V <= least excludes the row, as size V - (a' y)^2 is a sum of squares, gap^2 > size least."""
    room = cut.gap**2 - cut.size * least
    if room < 0 or (room == 0 and not cut.strict):
        return None
    scaled = [[cut.size * p for p in row] for row in matrix]
    outer = [[a * b for b in cut.vector] for a in cut.vector]
    parts = squares(minus(scaled, outer))
    if parts is None:
        return None
    term = linear(cut.vector, names)
    left = f"(- (* {number(cut.size)} {form(matrix, names)}) (* {term} {term}))"
    gap = number(cut.gap)
    fact = f"({'<=' if cut.strict else '<'} (* {number(cut.size)} {number(least)}) (* {gap} {gap}))"
    return joined([identity(name, left, parts, names), ground(f"{name}: room", [fact, f"(< 0.0 {gap})"])])


def _all_closed(
    cycle: _Round, system: TransitionSystem, matrix: Matrix, most: Fraction, names: Sequence[str]
) -> list[str] | str:
    """Returns scripts that no edge but those of the cycle can be taken where V <= most; or which one may."""
    scripts = []
    for place, (mode, edges) in enumerate(zip(cycle.modes, cycle.edges, strict=True)):
        same = {(e.target, e.update) for e in edges}
        for edge in system.edges:
            if edge.source == mode and (edge.target, edge.update) not in same:
                name = f"{edge.label} from {mode} stays closed"
                script = _separated(edge.guard, cycle, place, matrix, most, name, names)
                if script is None:
                    return f"{edge.label} from {mode} may be taken from where it starts"
                scripts.append(script)
    return scripts


def _separated(
    rows: Polyhedron, cycle: _Round, place: int, matrix: Matrix, most: Fraction, name: str, names: Sequence[str]
) -> str | None:
    for row in rows:
        cut = _cut(row, cycle, place, matrix)
        if cut is not None and (script := _apart(cut, most, matrix, name, names)) is not None:
            return script
    return None


def _goals(
    cycle: _Round, goal: TransitionSystem, broken: str, matrix: Matrix, names: Sequence[str]
) -> tuple[Fraction, list[str]] | str:
    """Returns a level c below which nothing is bad, and its scripts.

    Without a `broken` mode every run is to end: it is enough that one of the kept edges is closed.
    """
    levels_found: list[tuple[Fraction, Polyhedron, int, str]] = []
    for place, mode in enumerate(cycle.modes):
        bad = [rows for name, rows in goal.bad if name == mode and name != broken]
        bad += [e.guard for e in goal.edges if broken and e.target == broken and e.source == mode]
        if not broken:
            guards = [e.guard for e in goal.edges if e.source == mode]
            levels = [_level(rows, cycle, place, matrix) for rows in guards]
            if guards and all(level is not None for level in levels):
                least = min(level for level in levels if level is not None)
                name = f"a run has ended at {mode}"
                closing = [_separated(rows, cycle, place, matrix, least, name, names) for rows in guards]
                return least, [script for script in closing if script is not None]
            continue
        for rows in bad:
            level = _level(rows, cycle, place, matrix)
            if level is None:
                return f"at rest {mode} is not where it must be, or only just"
            levels_found.append((level, rows, place, mode))
    if not broken:
        return "at rest a run goes on"
    least = min((level for level, *_ in levels_found), default=ONE)
    scripts = [_separated(rows, cycle, place, matrix, least, f"{mode} is where it must be", names)
               for _, rows, place, mode in levels_found]  # fmt: skip
    if any(script is None for script in scripts):
        return "at rest it is not where it must be, or only just"
    return least, [script for script in scripts if script is not None]


def _level(rows: Polyhedron, cycle: _Round, place: int, matrix: Matrix) -> Fraction | None:
    """Returns the largest level (nearly) of V that one row keeps apart from the set."""
    cuts = [cut for row in rows if (cut := _cut(row, cycle, place, matrix)) is not None]
    levels = [SPARE * cut.gap**2 / cut.size if cut.size else ONE for cut in cuts]
    return _short(max(levels)) if levels else None


def _short(number_: Fraction) -> Fraction:
    """Returns a number a little below, in few digits."""
    size = Fraction(10) ** (math.floor(_log(number_) / math.log(10)) - 6) if number_ else ONE
    return (number_ // size) * size


def _rounds_until(rho: Fraction, most: Fraction, least: Fraction) -> tuple[int, str] | None:
    """Returns (N, script): rho^N most <= least, by powers of rho that are squared and rounded up."""
    if most <= least:
        return 0, ground("inside from the start", [f"(<= {number(most)} {number(least)})"])
    count = math.ceil((_log(least) - _log(most)) / math.log(float(rho)) * 1.0001) + 1
    if count > MOST_ROUNDS:
        return None
    facts, power, left, reached = [f"(< 0.0 {number(rho)} 1.0)"], rho, count, ONE
    while left:
        if left % 2:
            higher = _up(reached * power)
            facts.append(f"(<= (* {number(reached)} {number(power)}) {number(higher)})")
            reached = higher
        left //= 2
        higher = _up(power * power)
        facts.append(f"(<= (* {number(power)} {number(power)}) {number(higher)})")
        power = higher
    if reached * most > least:
        return None
    facts.append(f"(<= (* {number(reached)} {number(most)}) {number(least)})")
    return count, ground(f"V after {count} rounds", facts)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _up(value: Fraction) -> Fraction:
    """Returns a number a little above, in few digits."""
    size = Fraction(10) ** (math.floor(_log(value) / math.log(10)) - 12)
    return -((-value) // size) * size
