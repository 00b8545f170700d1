"""Fits declared non-linear mechanisms as declared: a maximum, a product, a saturation, a choice, a ratio.

    x(t) = f(causes, constants) + u(t)

Known constants are put in.  Unknown ones are fitted: by least squares on the terms where f is linear in them, else by
bounded non-linear least squares inside their declared ranges; in both beside a free level, which belongs to u.
A declared expression that is linear in its signals is no mechanism of this kind: its coefficients are fitted freely.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.base.errors import UsageError
from coherence.causal.attribution.mechanism_formulas import affine, laid_out, without_past
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.graph import CausalGraph
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.tree import Held, Number, Tree, names, rename, walk
from coherence.model.model import Model

Range: TypeAlias = tuple[float, float]
Mask: TypeAlias = npt.NDArray[np.bool_]
Whole: TypeAlias = npt.NDArray[np.int_]


@dataclass(frozen=True)
class Mechanism:
    """x(t) = level + f(columns at their lags; constants).  `constants` has 1 + B rows: all batches, then all but each.

    `at_limit`: constants that the data push to an end of their declared range.
    """

    effect: str
    tree: Tree  # names are the keys of `columns`, or of `unknown`
    columns: Mapping[str, Column]
    unknown: tuple[str, ...] = ()
    constants: Floats = field(default_factory=lambda: np.empty((1, 0)))
    low: Floats = field(default_factory=lambda: np.empty(0))
    high: Floats = field(default_factory=lambda: np.empty(0))
    at_limit: tuple[str, ...] = ()
    explained: float = float("nan")

    @property
    def causes(self) -> tuple[str, ...]:
        """The signals that it reads, each once."""
        return tuple(dict.fromkeys(name for name, _ in self.columns.values()))

    def __call__(self, values: Mapping[str, Floats], replicate: int = 0) -> Floats:
        """f at these values (by the keys of `columns`) with the constants of one replicate."""
        row = self.constants[min(replicate, len(self.constants) - 1)]
        return evaluated(self.tree, {**values, **dict(zip(self.unknown, row.tolist(), strict=True))})


def evaluated(tree: Tree, values: Mapping[str, Floats | float]) -> Floats:
    """A tree over arrays; what has no value (a division by zero) is NaN or infinite, not an error."""
    with np.errstate(all="ignore"):
        return np.asarray(lower_numpy(tree, values), np.float64)


def constants_of(model: Model) -> dict[str, float | Range]:
    """path -> value of each constant that the design knows, (low, high) where it gives a range."""
    constants: dict[str, float | Range] = {}
    for path, constant in model.constants.items():
        low = -math.inf if constant.range.low is None else float(constant.range.low)
        high = math.inf if constant.range.high is None else float(constant.range.high)
        if not constant.varies:
            constants[path] = low if low == high else (low, high)
    return constants


def non_linear(graph: CausalGraph, observed: Iterable[str], constants: Mapping[str, float | Range]) -> dict[str, Tree]:
    """effect -> its declared expression over observed signals, where that is not linear in them.

    What is computed and not observed is put in its place, so that a mechanism reads observed signals alone; one that
    still reads what nobody knows, or a past that samples do not show, is left to a linear fit.
    """
    seen = frozenset(observed)
    laws: dict[str, Tree] = {}
    for effect in graph.mechanisms:
        if effect in seen:
            tree = _inlined(graph.mechanisms[effect], graph, seen, frozenset({effect}))
            signals = {name for name in names(tree) if name in seen}
            known = all(name in seen or name in constants for name in names(tree))
            if known and effect not in signals and _readable(tree) and affine(without_past(tree), signals) is None:
                laws[effect] = tree
    return laws


def _readable(tree: Tree) -> bool:
    """Can the expression be evaluated from samples?"""
    unreadable = {"sampled", "previous", "rate_of"}
    return not any(isinstance(node, Held) or getattr(node, "function", "") in unreadable for node in walk(tree))


def _inlined(tree: Tree, graph: CausalGraph, seen: frozenset[str], above: frozenset[str]) -> Tree:
    def place(path: str) -> str | Tree:
        inner = graph.mechanisms.get(path)
        if path in seen or inner is None or path in above:
            return path
        return _inlined(inner, graph, seen, above | {path})

    return rename(tree, place)


def held_back(values: Floats, lag: int) -> Floats:
    """The values `lag` samples ago, along the last axis; before the record the first value stands."""
    if not lag:
        return values
    length = values.shape[-1]
    lag = min(lag, length)
    first = np.repeat(values[..., :1], lag, axis=-1)
    return np.concatenate([first, values[..., : length - lag]], axis=-1)


def mechanism(
    series: Series, effect: str, tree: Tree, constants: Mapping[str, float | Range], stretches: Sequence[Whole]
) -> Mechanism:
    """Make a mechanism of an expression, its unknown constants fitted; `stretches`: row numbers of each batch.

    Raises UsageError for names that are neither signals of the telemetry nor constants.
    """
    strange = [name for name in names(tree) if name not in series and name not in constants]
    if strange:
        raise UsageError(
            f"'{effect}' depends on {', '.join(strange)}, which the telemetry lacks: record it, or give it a value"
        )
    known = {n: c for n, c in constants.items() if n not in series and isinstance(c, int | float)}
    put = rename(tree, lambda path: Number(Fraction(known[path])) if path in known else path)
    body, columns = laid_out(put, series.names, series.step)
    unknown = tuple(name for name in names(body) if name not in columns)
    if not unknown:
        return Mechanism(effect, body, columns, explained=_explained(series, effect, body, columns))
    return _fitted(series, Mechanism(effect, body, columns, unknown), constants, stretches)


def _values(series: Series, columns: Mapping[str, Column]) -> dict[str, Floats]:
    return {key: held_back(series[name], lag) for key, (name, lag) in columns.items()}


def _explained(series: Series, effect: str, tree: Tree, columns: Mapping[str, Column]) -> float:
    left = series[effect] - evaluated(tree, {**_values(series, columns)})
    total = float(np.nanvar(series[effect]))
    return float(1 - np.nanvar(left) / total) if total > 0 else float("nan")


def _fitted(
    series: Series, mechanism: Mechanism, constants: Mapping[str, float | Range], stretches: Sequence[Whole]
) -> Mechanism:
    """The constants over all rows, and over all rows but each batch."""
    values, target = _values(series, mechanism.columns), series[mechanism.effect]
    limits = np.array([_range(constants[name]) for name in mechanism.unknown])
    there = np.stack([target, *(np.broadcast_to(value, target.shape) for value in values.values())])
    whole: Mask = np.asarray(np.isfinite(there).all(axis=0))
    groups = _numbers(stretches, len(target))
    parts = affine(mechanism.tree, mechanism.unknown)
    solve = _linear if parts is not None else _curved
    numbers = solve(mechanism, values, target, whole, groups, limits)
    close = 1e-6 * np.maximum(np.abs(limits), 1.0)
    stuck = (numbers[0] <= limits[:, 0] + close[:, 0]) | (numbers[0] >= limits[:, 1] - close[:, 1])
    from coherence.causal.answers.intervals import jackknife

    low, high, _ = jackknife(numbers[0], numbers[1:])
    at_limit = tuple(name for name, is_stuck in zip(mechanism.unknown, stuck.tolist(), strict=True) if is_stuck)
    done = Mechanism(
        mechanism.effect, mechanism.tree, mechanism.columns, mechanism.unknown, numbers, low, high, at_limit
    )
    left = (target - done(values))[whole]
    total = float(np.var(target[whole]))
    share = float(1 - np.var(left) / total) if total > 0 else float("nan")
    return Mechanism(
        mechanism.effect, mechanism.tree, mechanism.columns, mechanism.unknown, numbers, low, high, at_limit, share
    )


def _numbers(stretches: Sequence[Whole], length: int) -> Whole:
    """Which batch each row belongs to; -1: none."""
    stretch_of = np.full(length, -1, np.int_)
    for number, rows in enumerate(stretches):
        stretch_of[rows] = number
    return stretch_of


def _range(said: float | Range) -> Range:
    return said if isinstance(said, tuple) else (float(said), float(said))


def _linear(
    mechanism: Mechanism, values: Mapping[str, Floats], target: Floats, whole: Mask, groups: Whole, limits: Floats
) -> Floats:
    """Least squares on the terms of the unknown constants; inside the declared ranges."""
    parts = affine(mechanism.tree, mechanism.unknown) or {}
    terms = [np.broadcast_to(evaluated(parts[name], values), target.shape) for name in mechanism.unknown]
    rows = np.stack([np.ones_like(target), *terms])
    left = target - evaluated(parts[""], values)
    whole = whole & np.isfinite(rows).all(axis=0) & np.isfinite(left)
    if not whole.any():
        raise UsageError(f"'{mechanism.effect}' and its causes are never there at the same time: nothing can be fitted")
    joined = np.concatenate([rows, left[None]])
    count = int(groups.max()) + 1
    sums = np.stack([_square(joined[:, whole & (groups == number)]) for number in range(count)])
    total = _square(joined[:, whole])
    stacked = np.concatenate([total[None], total - sums])
    return np.stack([_bounded(one, limits) for one in stacked])


def _square(rows: Floats) -> Floats:
    return np.asarray(rows @ rows.T, np.float64)


def _bounded(sums: Floats, limits: Floats) -> Floats:
    """The constants of one sum of products; at a limit where the free solution lies beyond it."""
    size = np.sqrt(np.maximum(np.diagonal(sums)[:-1], 1e-300))
    left, right = sums[:-1, :-1] / size[:, None] / size, sums[:-1, -1] / size
    free = np.linalg.lstsq(left, right, rcond=1e-12)[0] / size
    if np.all((free[1:] >= limits[:, 0]) & (free[1:] <= limits[:, 1])):
        return np.asarray(free[1:], np.float64)
    from scipy.optimize import lsq_linear

    values, ways = np.linalg.eigh(left)
    root = np.sqrt(np.maximum(values, 0.0))
    strong = root > 1e-9 * root.max()
    matrix = (root[strong, None] * ways.T[strong]) * size
    aim = (ways.T[strong] @ right) / root[strong]
    low = np.concatenate([[-np.inf], limits[:, 0]])
    high = np.concatenate([[np.inf], np.maximum(limits[:, 1], np.nextafter(limits[:, 0], np.inf))])
    return np.asarray(lsq_linear(matrix, aim, bounds=(low, high)).x[1:], np.float64)


def _curved(
    mechanism: Mechanism, values: Mapping[str, Floats], target: Floats, whole: Mask, groups: Whole, limits: Floats
) -> Floats:
    """Non-linear least squares from several starts inside the ranges; each batch's absence starts at the whole."""
    from scipy.optimize import least_squares

    low, high = limits[:, 0], np.maximum(limits[:, 1], np.nextafter(limits[:, 0], np.inf))

    def solved(rows: Mask, start: Floats) -> tuple[Floats, float]:
        there = {key: np.broadcast_to(value, target.shape)[rows] for key, value in values.items()}
        aim = target[rows]

        def left(theta: Floats) -> Floats:
            made_up = evaluated(mechanism.tree, {**there, **dict(zip(mechanism.unknown, theta.tolist(), strict=True))})
            off = aim - made_up
            off = np.where(np.isfinite(off), off, 1e6 * (1 + np.abs(aim)))
            return np.asarray(off - off.mean(), np.float64)

        scale = np.maximum(np.abs(start), 1e-6)
        done = least_squares(left, start, bounds=(low, high), x_scale=scale, xtol=1e-9, ftol=1e-10, gtol=1e-10)
        return np.asarray(done.x, np.float64), float(done.cost)

    best = min((solved(whole, start) for start in _starts(low, high)), key=lambda one: one[1])[0]
    inside = np.clip(best, low, high)
    rest = [solved(whole & (groups != number), inside)[0] for number in range(int(groups.max()) + 1)]
    return np.stack([best, *rest])


def _starts(low: Floats, high: Floats) -> list[Floats]:
    """Points of the box that unbounded ranges do not push to infinity."""
    bottom = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 1.0, -1.0))
    top = np.where(np.isfinite(high), high, np.maximum(bottom * 10, bottom + 1.0))
    return [bottom + share * (top - bottom) for share in (0.5, 0.1, 0.9)]
