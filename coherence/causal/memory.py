"""Where what a signal has of its own remembers its past, plain regression on that past is wrong; what is right then.

In a circle, the past own part of an effect has reached its causes by now, so causes and own part are related:
    feedback    x(t) = a y(t - l) + u(t), u autocorrelated: generalised least squares.  With all pasts beside it, the
                regression has white errors; the coefficients of the effect's own past are the memory phi of u, and
                both sides filtered by 1 - phi_1 L - .. - phi_p L^p give a without bias.
    own past    x(t) = r x(t - 1) + b z(t) + u(t): r and the memory of u look alike in x's own past; the past of what
                comes from outside the circle tells them apart (two-stage least squares).
SOURCE: Cochrane and Orcutt 1949; Liviatan 1963 (lagged exogenous signals as instruments).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from coherence.causal.equations import Equation
from coherence.causal.gram import Column, Grams
from coherence.causal.graph import Graph
from coherence.causal.series import Floats

MEMORY = 2  # samples of its own past that an own part is allowed to remember
DEEP = 3  # further delays of outside signals that serve as instruments


def remembering(graph: Graph, plan: Mapping[str, Equation], observed: Iterable[str]) -> dict[str, Equation]:
    """The plan with the equations of signals in circles replaced by ones that memory does not bias."""
    seen = tuple(observed)
    made = dict(plan)
    for effect, one in plan.items():
        plain = not (one.instruments or one.controls or one.lost or one.replaced or one.exact)
        if not plain or one.method != "its causes":
            continue
        if any(cause == effect for cause, _ in one.columns):
            made[effect] = _from_outside(graph, one, seen)
        elif any(effect in graph.ancestors(cause) for cause, _ in one.columns):
            made[effect] = replace(
                one, controls=_pasts(one, MEMORY), memory=MEMORY, method="its causes, memory removed"
            )
    return made


def _pasts(one: Equation, depth: int) -> tuple[Column, ...]:
    """The effect and every column up to `depth` steps earlier."""
    columns = ((one.effect, 0), *one.columns)
    found = [(name, lag + back) for name, lag in columns for back in range(1, depth + 1)]
    return tuple(column for column in dict.fromkeys(found) if column not in one.columns)


def _from_outside(graph: Graph, one: Equation, seen: tuple[str, ...]) -> Equation:
    """Instruments for the effect's own past: what acts on it from outside every circle it is in, and its past."""
    outside = [n for n in seen if n in graph.ancestors(one.effect) and one.effect not in graph.ancestors(n)]
    clean = [name for name in outside if not _hidden(graph, name, one.effect, seen)]
    lags: dict[str, int] = dict.fromkeys(clean, 0) | {c: lag for c, lag in one.columns if c in clean}
    direct = [column for column in one.columns if column[0] in clean]
    found = [(name, lag + back) for name, lag in lags.items() for back in range(DEEP + 1)]
    instruments = tuple(dict.fromkeys([*direct, *found]))
    if not clean or len(instruments) < len(one.columns):
        return replace(one, method="its causes, what it has of its own taken as memoryless")
    return replace(one, instruments=instruments, method="its causes, the past of outside signals as instruments")


def _hidden(graph: Graph, name: str, effect: str, seen: Iterable[str]) -> bool:
    """Do the two have something unmeasured behind both?"""
    unseen = (graph.ancestors(name) & graph.ancestors(effect)) - set(seen) - graph.computed
    return bool(unseen)


def whitened(found: Grams, sums: Floats, equation: Equation) -> Floats:
    """(replicates, 1 + columns): scaled coefficients after the memory of the own part is filtered out of both sides."""
    columns, depth = equation.columns, equation.memory
    beside = tuple(dict.fromkeys((*columns, *equation.controls)))
    places = [0, *found.index(beside)]
    target = found.index([(equation.effect, 0)])[0]
    full = _least(sums[:, places][:, :, places], sums[:, places, target])
    own = [places.index(found.index([(equation.effect, back)])[0]) for back in range(1, depth + 1)]
    scale = found.scale
    past = [found.index([(equation.effect, back)])[0] for back in range(1, depth + 1)]
    phi = full[:, own] * (scale[target - 1] / scale[np.array(past) - 1])
    shift = np.zeros((len(sums), 2 + len(columns), sums.shape[1]))  # constant, columns, target: over the sums' columns
    shift[:, 0, 0] = 1.0
    for row, (name, lag) in enumerate([*columns, (equation.effect, 0)], start=1):
        here = found.index([(name, lag)])[0]
        shift[:, row, here] = 1.0
        for back in range(1, depth + 1):
            there = found.index([(name, lag + back)])[0]
            shift[:, row, there] -= phi[:, back - 1] * scale[there - 1] / scale[here - 1]
    moved = shift @ sums @ shift.transpose(0, 2, 1)
    return _least(moved[:, :-1, :-1], moved[:, :-1, -1])


def _least(left: Floats, right: Floats) -> Floats:
    size = np.sqrt(np.maximum(np.diagonal(left, axis1=1, axis2=2), 1e-300))
    even = left / size[:, :, None] / size[:, None, :]
    inverse = np.linalg.pinv(even, rcond=1e-9, hermitian=True)
    return np.asarray((inverse @ (right / size)[..., None])[..., 0] / size, np.float64)
