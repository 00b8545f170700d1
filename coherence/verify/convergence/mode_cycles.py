"""Finds the cycles of modes that a design runs through near its rest, with the affine map once round each.

Each mode of a cycle is left by one affine edge; y is the distance from the rest at the start of the cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.verify.convergence.quadratic import ZERO, Matrix, Vector, dot, minus, solved, times
from coherence.verify.systems.piecewise_affine import AffineEdge, Polyhedron

MOST_CYCLE = 64


@dataclass(frozen=True, slots=True)
class ModeCycle:
    """One cycle: where it passes and the affine map from the rest's neighbourhood at its start to each place."""

    modes: tuple[str, ...]
    edges: tuple[tuple[AffineEdge, ...], ...]  # out of each mode
    matrices: tuple[Matrix, ...]  # y at the start -> y at the mode; one more than modes: once round
    rests: tuple[Vector, ...]


def mode_cycles(edges: Sequence[AffineEdge], level: Mapping[str, Polyhedron], states: int) -> list[ModeCycle] | str:
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
    left, cycles = dict.fromkeys(level), list[ModeCycle]()
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
        cycle = _mode_cycle(modes, [out[mode] for mode in modes], states)
        if cycle is None:
            return "there is no one place of rest"
        cycles.append(cycle)
    return cycles


def _mode_cycle(modes: Sequence[str], edges: Sequence[Sequence[AffineEdge]], states: int) -> ModeCycle | None:
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
    return ModeCycle(tuple(modes), tuple(tuple(ways) for ways in edges), tuple(matrices), tuple(rests))


def begun_at(cycle: ModeCycle, k: int) -> ModeCycle:
    """Returns the same cycle, begun at its k-th mode."""
    if not k:
        return cycle
    order = [*range(k, len(cycle.modes)), *range(k)]
    turned = _mode_cycle([cycle.modes[i] for i in order], [cycle.edges[i] for i in order], len(cycle.rests[0]))
    assert turned is not None  # the rest of the cycle is one from every mode of it
    return turned
