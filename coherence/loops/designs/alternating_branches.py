"""Proves that laps stay stable however the branches of a kink alternate from decision to decision.

Where the kinks of a point stand in laws only, each decision of a lap takes one side, so that every run near the point
is a product of the laps of all combinations of sides.  It decays where each product of some length contracts: no
product of laps, extended until it does, is left after MOST_PRODUCTS.

SOURCE: Gripenberg 1996, Computing the joint spectral radius (Linear Algebra and its Applications 234).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.bridged_laps import opened_alike
from coherence.loops.designs.kinks import Sides, looks_back_at_kinks
from coherence.loops.designs.lap_matrices import Cut, Lap, LapError, Row, Table, by_state
from coherence.loops.designs.lap_roots import floats
from coherence.model.model import Model

MOST_LAPS, MOST_PRODUCTS, MOST_VARIABLES = 32, 2_000, 60
WORST_NORM = 1e4  # condition beyond which rounding is not far below the margin of CONTRACTS
CONTRACTS = 1 - 1e-6  # a norm below this is less than one, whatever was rounded
Array = Any


def is_stable_alternating(model: Model, sides: Sides, point: Mapping[str, Fraction]) -> bool:
    """Decides whether the laps of the branches at one point of a model are proved stable in any order."""
    if not sides.complete or sides.jumps or looks_back_at_kinks(model):
        return False
    try:
        laps = opened_alike([branch.model for branch in sides.branches], point)
    except (LapError, NotExactError):
        return False
    if not _differ_in_laws_only(laps):
        return False
    matrices = list(_matrices(laps))
    return bool(matrices) and _contract(matrices)


def _differ_in_laws_only(laps: Sequence[Lap]) -> bool:
    """Decides it; what a sensor holds between two decisions is no law."""
    first = laps[0]
    return not first.helpers and all(
        lap.end == first.end and [(c.loop, c.time) for c in lap.cuts] == [(c.loop, c.time) for c in first.cuts]
        for lap in laps[1:]
    )


def _matrices(laps: Sequence[Lap]) -> Iterator[Array]:
    """Yields the matrix of each combination of sides over what any of them depends on; none where they are many."""
    options = [_distinct([lap.cuts[k] for lap in laps]) for k in range(len(laps[0].cuts))]
    if math.prod(map(len, options)) > MOST_LAPS:
        return
    tables = [_closed(laps[0].end, chosen) for chosen in itertools.product(*options)]
    names = _that_matter(tables)
    if len(names) <= MOST_VARIABLES:
        for table in tables:
            yield floats([[table[name].get(other, Fraction(0)) for other in names] for name in names], len(names))


def _distinct(cuts: Sequence[Cut]) -> list[Row]:
    laws: list[Row] = []
    for cut in cuts:
        if cut.law not in laws:
            laws.append(cut.law)
    return laws


def _closed(end: Table, laws: Sequence[Row]) -> Table:
    inputs: Table = {}
    for number, law in enumerate(laws):
        inputs[f"input {number}"] = by_state(law, inputs)
    return {name: by_state(row, inputs) for name, row in end.items()}


def _that_matter(tables: Sequence[Table]) -> list[str]:
    """Returns the variables that something reads and something moves, in one of the laps."""
    names = set(tables[0])
    while True:
        read = {other for table in tables for name in names for other in table[name]}
        moved = {name for table in tables for name in names if names & table[name].keys()}
        if names <= read & moved:
            return sorted(names)
        names &= read & moved


def _contract(matrices: Sequence[Array]) -> bool:
    """Decides whether every product, extended by each lap until its norm is below one, is at last so short."""
    if not len(matrices[0]):
        return True  # nothing is carried from lap to lap
    norm = _in_norm(matrices[0])
    if np.linalg.cond(norm) > WORST_NORM:
        return False
    scaled = [norm @ matrix @ np.linalg.inv(norm) for matrix in matrices]
    waiting, count = [np.eye(len(scaled[0]))], 0
    while waiting:
        product = waiting.pop()
        for matrix in scaled:
            longer, count = matrix @ product, count + 1
            if np.linalg.norm(longer, 2) >= CONTRACTS:
                waiting.append(longer)
        if count > MOST_PRODUCTS:
            return False
    return True


def _in_norm(matrix: Array) -> Array:
    """Returns the coordinates in which the lap itself contracts best: the root of its Lyapunov matrix."""
    from scipy.linalg import solve_discrete_lyapunov

    radius = max(abs(np.linalg.eigvals(matrix)), default=0.0)
    if not radius < 1:
        return np.eye(len(matrix))
    gramian = solve_discrete_lyapunov(matrix.T, np.eye(len(matrix)))
    return np.linalg.cholesky((gramian + gramian.T) / 2).T
