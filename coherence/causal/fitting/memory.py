"""Corrects regressions on a signal's own past where its errors are autocorrelated too: instruments and whitening.

In a circle, the past own part of an effect has reached its causes by now, so causes and own part are related:
    feedback    x(t) = a y(t - l) + u(t), u autocorrelated: both sides filtered by 1 - phi_1 L - .. - phi_p L^p, with a
                and phi chosen together so that what is left is smallest.
    own past    x(t) = r x(t - 1) + b z(t) + u(t): r and the memory of u look alike in x's own past; the past of what
                comes from outside the circle tells them apart (two-stage least squares), else the way in which b
                returns one step later (the same filter as above).  With neither, r is refused.
SOURCE: Cochrane and Orcutt 1949; Sargan 1964 (with own past); Liviatan 1963 (lagged exogenous signals as instruments).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.causal.data.series import Floats
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.gram import Column, Grams, solutions
from coherence.causal.fitting.graph import CausalGraph

OUTSIDE = "its causes, the past of outside signals as instruments"
MEMORY = 2  # samples of its own past that an own part is allowed to remember
Places: TypeAlias = npt.NDArray[np.int64]
SINGULAR = 1e-9  # eigenvalue, of the largest, from which a direction does not move
STARTS = ((0.0, 0.0), (0.5, 0.0), (0.9, 0.0), (-0.5, 0.0))  # memories from which the smallest rest is searched
ROUNDS, NEWTON = 20, 12
SETTLED = 1e-9  # change of a memory in one round
DEEP = 3  # further delays of outside signals that serve as instruments


def remembering(graph: CausalGraph, plan: Mapping[str, Equation], observed: Iterable[str]) -> dict[str, Equation]:
    """The plan with the equations of signals in circles replaced by ones that memory does not bias."""
    seen = tuple(observed)
    equations = dict(plan)
    for effect, equation in plan.items():
        plain = not (equation.instruments or equation.controls or equation.lost or equation.replaced or equation.exact)
        if not plain or equation.method != "its causes":
            continue
        if any(cause == effect for cause, _ in equation.columns):
            equations[effect] = _from_outside(graph, equation, seen)
        elif any(effect in graph.ancestors(cause) for cause, _ in equation.columns):
            equations[effect] = filtered(equation)
    return equations


def filtered(one: Equation) -> Equation:
    """The equation with the memory of the effect's own part filtered out."""
    return replace(one, controls=_pasts(one, MEMORY), memory=MEMORY, method="its causes, memory removed")


def _pasts(one: Equation, depth: int) -> tuple[Column, ...]:
    """The effect and every column up to `depth` steps earlier."""
    columns = ((one.effect, 0), *one.columns)
    found = [(name, lag + back) for name, lag in columns for back in range(1, depth + 1)]
    return tuple(column for column in dict.fromkeys(found) if column not in one.columns)


def _from_outside(graph: CausalGraph, equation: Equation, seen: tuple[str, ...]) -> Equation:
    """Instruments for the effect's own past: what acts on it from outside every circle it is in, and its past."""
    outside = [n for n in seen if n in graph.ancestors(equation.effect) and equation.effect not in graph.ancestors(n)]
    clean = [name for name in outside if not _hidden(graph, name, equation.effect, seen)]
    lags: dict[str, int] = dict.fromkeys(clean, 0) | {c: lag for c, lag in equation.columns if c in clean}
    direct = [column for column in equation.columns if column[0] in clean]
    lagged_instruments = [(name, lag + back) for name, lag in lags.items() for back in range(DEEP + 1)]
    instruments = tuple(dict.fromkeys([*direct, *lagged_instruments]))
    if not clean or len(instruments) < len(equation.columns):
        return _alone(equation) if {name for name, _ in equation.columns} == {equation.effect} else filtered(equation)
    return replace(equation, instruments=instruments, method=OUTSIDE)


def _alone(one: Equation) -> Equation:
    """Nothing but its own past: what it keeps and what keeps driving it look alike.  No share depends on it."""
    why = f"what {one.effect} keeps of its past and a cause that keeps acting on it look alike"
    return replace(one, lost=one.columns, refused=why, measure=(f"something that acts on {one.effect}",))


def _hidden(graph: CausalGraph, name: str, effect: str, seen: Iterable[str]) -> bool:
    """Do the two have something unmeasured behind both?"""
    unseen = (graph.ancestors(name) & graph.ancestors(effect)) - set(seen) - graph.computed
    return bool(unseen)


def whitened(products: Grams, sums: Floats, equation: Equation) -> Floats:
    """(replicates, 1 + columns): scaled coefficients after the memory of the own part is filtered out of both sides."""
    depth = equation.memory
    rows = [products.index([(name, lag + back) for back in range(depth + 1)]) for name, lag in equation.columns]
    rows.append(products.index([(equation.effect, back) for back in range(depth + 1)]))
    places = np.array([[0] * (depth + 1), *rows])
    ratio = np.ones(places.shape)
    ratio[1:] = products.scale[places[1:] - 1] / products.scale[places[1:, :1] - 1]
    blocks = _blocks(sums, places, ratio)
    if equation not in products.starts:
        products.starts[equation] = _start(blocks[:1])
    return _chosen(blocks, products.starts[equation])


def from_moments(moments: Floats, width: int) -> Floats:
    """Coefficients from exact moments of [columns, effect], each 0, 1 .. `MEMORY` steps earlier in turn."""
    places = np.arange((width + 1) * (MEMORY + 1)).reshape(width + 1, MEMORY + 1)
    blocks = _blocks(moments[None], places, np.ones(places.shape))
    return np.asarray(_chosen(blocks, _start(blocks))[0], np.float64)


def _blocks(sums: Floats, places: Places, ratio: Floats) -> Floats:
    """(replicates, delays, delays, k, k): moments of the columns and the effect (last) at each pair of delays."""
    flat = places.T.ravel()
    size, delays = places.shape
    scaled = sums[:, flat][:, :, flat] * np.outer(ratio.T.ravel(), ratio.T.ravel())
    return np.ascontiguousarray(scaled.reshape(len(sums), delays, size, delays, size).transpose(0, 1, 3, 2, 4))


def _start(whole: Floats) -> tuple[Floats, Floats]:
    """Coefficients and memory at which what is left of the whole is smallest, from several memories.

    With own past beside, there can be two valleys.
    """
    tried = [_settled(whole, np.array([first])) for first in STARTS]
    left = [float(_left(whole, *one)[0]) for one in tried]
    least = min(left, key=lambda rest: (not math.isfinite(rest), rest))  # rounding may leave it just below zero
    return next((one for one, rest in zip(tried, left, strict=True) if not rest > least + 1e-9 * abs(least)), tried[0])


def _chosen(blocks: Floats, start: tuple[Floats, Floats]) -> Floats:
    """(replicates, columns): the coefficients at which what is left after filtering is smallest, near a start."""
    slopes, phi = (np.repeat(one, len(blocks), axis=0) for one in start)
    for _ in range(NEWTON):
        former, (slopes, phi) = phi, _stepped(blocks, slopes, phi)
        if np.abs(phi - former).max() < SETTLED:
            break
    return slopes


def _settled(blocks: Floats, phi: Floats) -> tuple[Floats, Floats]:
    """Coefficients and memory, each the best for the other, in turn."""
    slopes = _slopes(blocks, phi)
    for _ in range(ROUNDS):
        former, phi = phi, _memory(blocks, slopes)
        slopes = _slopes(blocks, phi)
        if np.abs(phi - former).max() < SETTLED:
            break
    return slopes, phi


def _filter(phi: Floats) -> Floats:
    return np.concatenate([np.ones((len(phi), 1)), -phi], axis=1)


def _filtered(blocks: Floats, by: Floats) -> Floats:
    """(replicates, k, k): moments of the filtered columns."""
    replicates, delays, _, size, _ = blocks.shape
    weights = (by[:, :, None] * by[:, None, :]).reshape(replicates, 1, delays * delays)
    return (weights @ blocks.reshape(replicates, delays * delays, size * size)).reshape(replicates, size, size)


def _slopes(blocks: Floats, phi: Floats) -> Floats:
    """Least squares of the filtered effect on the filtered columns."""
    moments = _filtered(blocks, _filter(phi))
    return _least(moments[:, :-1, :-1], moments[:, :-1, -1])


def _rest(slopes: Floats) -> Floats:
    """Weights of the columns and the effect in what the columns do not explain."""
    return np.concatenate([-slopes, np.ones((len(slopes), 1))], axis=1)


def _with_rest(blocks: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """Moments at each pair of delays: (replicates, delays, delays, k) of columns with the rest, and of the rest."""
    replicates, delays, _, size, _ = blocks.shape
    columns = blocks.reshape(replicates, delays * delays * size, size) @ rest[:, :, None]
    columns = columns.reshape(replicates, delays * delays, size)
    own = columns @ rest[:, :, None]
    return columns.reshape(replicates, delays, delays, size), own.reshape(replicates, delays, delays)


def _memory(blocks: Floats, slopes: Floats) -> Floats:
    """The regression of the own part on its past."""
    _, past = _with_rest(blocks, _rest(slopes))
    return _least(past[:, 1:, 1:], past[:, 1:, 0])


def _left(blocks: Floats, slopes: Floats, phi: Floats) -> Floats:
    _, past = _with_rest(blocks, _rest(slopes))
    by = _filter(phi)
    return np.asarray(np.einsum("ra,rab,rb->r", by, past, by), np.float64)


def _stepped(blocks: Floats, slopes: Floats, phi: Floats) -> tuple[Floats, Floats]:
    """One Gauss-Newton step on coefficients and memory together."""
    by = _filter(phi)
    both = _filtered(blocks, by)[:, :-1, :-1]
    columns, past = _with_rest(blocks, _rest(slopes))
    replicates, delays, _, size = columns.shape
    filtered_columns = (by[:, None, :] @ columns.reshape(replicates, delays, delays * size)).reshape(
        replicates, delays, size
    )
    cross = filtered_columns[:, 1:, :-1]  # filtered column with the past own part
    width, count = slopes.shape[1], slopes.shape[1] + phi.shape[1]
    left = np.zeros((len(slopes), count, count))
    left[:, :width, :width], left[:, width:, width:] = both, past[:, 1:, 1:]
    left[:, width:, :width], left[:, :width, width:] = cross, cross.transpose(0, 2, 1)
    right = np.concatenate([
        (by[:, None, :] @ filtered_columns)[:, 0, :-1], (past @ by[:, :, None])[:, 1:, 0],
    ], axis=1)  # fmt: skip
    step = _least(left, right)
    return slopes + step[:, :width], phi + step[:, width:]


def _least(left: Floats, right: Floats) -> Floats:
    size = np.sqrt(np.maximum(np.diagonal(left, axis1=1, axis2=2), 0.0))
    size = np.where(size > 1e-9 * size.max(axis=1, keepdims=True), size, np.inf)  # what does not move has no effect
    even = left / size[:, :, None] / size[:, None, :]
    solved = solutions(even, right / size, SINGULAR * even.shape[-1]) if np.isfinite(size).all() else None
    if solved is not None:
        return np.asarray(solved / size, np.float64)
    inverse = np.linalg.pinv(even, rcond=SINGULAR, hermitian=True)
    return np.asarray((inverse @ (right / size)[..., None])[..., 0] / size, np.float64)
