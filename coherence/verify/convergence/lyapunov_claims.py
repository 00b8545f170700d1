"""Writes the claims of a quadratic Lyapunov function V(y) = y' P y as SMT-LIB scripts about exact numbers.

In V <= most no edge but those of the cycle can be taken, V shrinks by rho each time round, and V <= least touches
no bad set: sums of squares, signs, and linear arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.solver import joined
from coherence.verify.convergence.mode_cycles import ModeCycle
from coherence.verify.convergence.quadratic import (
    ONE,
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
)
from coherence.verify.invariants.smtlib import number
from coherence.verify.systems.piecewise_affine import Constraint, Polyhedron, TransitionSystem

MOST_ROUNDS = 10**7
SPARE = Fraction(999, 1000)


def bounded_claim(start: Polyhedron, system: TransitionSystem, rest: Vector, reach: Vector) -> str:
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


def shrink_claims(cycle: ModeCycle, matrix: Matrix, rho: Fraction, names: Sequence[str]) -> list[str]:
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


def box_claim(matrix: Matrix, reach: Vector, most: Fraction) -> str:
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


def _cut(row: Constraint, cycle: ModeCycle, place: int, matrix: Matrix) -> _Cut | None:
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


def _cut_claim(cut: _Cut, least: Fraction, matrix: Matrix, name: str, names: Sequence[str]) -> str | None:
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


def closed_claims(
    cycle: ModeCycle, system: TransitionSystem, matrix: Matrix, most: Fraction, names: Sequence[str]
) -> list[str] | str:
    """Returns scripts that no edge but those of the cycle can be taken where V <= most; or which one may."""
    scripts = []
    for place, (mode, edges) in enumerate(zip(cycle.modes, cycle.edges, strict=True)):
        same = {(e.target, e.update) for e in edges}
        for edge in system.edges:
            if edge.source == mode and (edge.target, edge.update) not in same:
                name = f"{edge.label} from {mode} stays closed"
                script = _separation_claim(edge.guard, cycle, place, matrix, most, name, names)
                if script is None:
                    return f"{edge.label} from {mode} may be taken from where it starts"
                scripts.append(script)
    return scripts


def _separation_claim(
    rows: Polyhedron, cycle: ModeCycle, place: int, matrix: Matrix, most: Fraction, name: str, names: Sequence[str]
) -> str | None:
    for row in rows:
        cut = _cut(row, cycle, place, matrix)
        if cut is not None and (script := _cut_claim(cut, most, matrix, name, names)) is not None:
            return script
    return None


def goal_claims(
    cycle: ModeCycle, goal: TransitionSystem, broken: str, matrix: Matrix, names: Sequence[str]
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
                closing = [_separation_claim(rows, cycle, place, matrix, least, name, names) for rows in guards]
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
    scripts = [_separation_claim(rows, cycle, place, matrix, least, f"{mode} is where it must be", names)
               for _, rows, place, mode in levels_found]  # fmt: skip
    if any(script is None for script in scripts):
        return "at rest it is not where it must be, or only just"
    return least, [script for script in scripts if script is not None]


def _level(rows: Polyhedron, cycle: ModeCycle, place: int, matrix: Matrix) -> Fraction | None:
    """Returns the largest level (nearly) of V that one row keeps apart from the set."""
    cuts = [cut for row in rows if (cut := _cut(row, cycle, place, matrix)) is not None]
    levels = [SPARE * cut.gap**2 / cut.size if cut.size else ONE for cut in cuts]
    return _short(max(levels)) if levels else None


def _short(number_: Fraction) -> Fraction:
    """Returns a number a little below, in few digits."""
    size = Fraction(10) ** (math.floor(_log(number_) / math.log(10)) - 6) if number_ else ONE
    return (number_ // size) * size


def rounds_claim(rho: Fraction, most: Fraction, least: Fraction) -> tuple[int, str] | None:
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
