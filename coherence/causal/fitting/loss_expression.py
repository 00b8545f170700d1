"""Adds the loss that is to be explained, a signal or an expression of signals, to the graph as one more signal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.language.expressions import ExpressionError, Tree, names, parse
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.tree import Name
from coherence.model.model import Model

FORBIDDEN = frozenset({"delayed", "mean_over", "rate_of", "previous", "mean", "quantile", "tail", "attempts", "call"})


@dataclass(frozen=True)
class LossExpression:
    """`name` is the signal; `tree` what it is computed from, None where it is itself measured.

    `equation`: its exact coefficients where the expression is linear in the signals; `beside`: signals that it reads
    and that the fit would leave out, such as those that never change.
    """

    name: str
    values: Floats
    tree: Tree | None = None
    equation: Equation | None = None
    beside: Mapping[str, Floats] = field(default_factory=dict)
    unit: str = ""

    def added(self, graph: CausalGraph) -> CausalGraph:
        """The graph with the loss in it."""
        if self.tree is None:
            return graph if self.name in graph.nodes else replace(graph, nodes=(*graph.nodes, self.name))
        acting = tuple(Influence(cause, self.name, by="loss") for cause in _signals(self))
        mechanisms = {**graph.mechanisms, self.name: self.tree}
        nodes = tuple(dict.fromkeys([*graph.nodes, *_signals(self), self.name]))
        return replace(graph, nodes=nodes, influences=(*graph.influences, *acting), mechanisms=mechanisms)

    def joined(self, series: Series) -> Series:
        """The series with the loss as its last signal."""
        if self.tree is None:
            return series
        more = {name: column for name, column in self.beside.items() if name not in series}
        values = np.column_stack([series.values, *more.values(), self.values])
        return Series(
            (*series.names, *more, self.name), values, series.step, series.start, series.units, series.excluded
        )


def _signals(loss: LossExpression) -> tuple[str, ...]:
    return names(loss.tree) if loss.tree is not None else ()


def loss_of(text: str, series: Series, model: Model) -> LossExpression:
    """The loss that a text names.  Raises UsageError with what is wrong in it."""
    if text in series:
        return LossExpression(text, series[text])
    tree = _parsed(text)
    known = _constants(model)
    columns: dict[str, Floats] = {}
    for name in names(tree):
        path = name if name in series else model.resolve(name)
        if path in series:
            columns[name] = series[path]
        elif path in known:
            columns[name] = np.full(len(series), known[path])
        else:
            raise UsageError(f"--loss: there is no signal '{name}': {did_you_mean(name, [*series.names, *known])}")
    moving = [name for name in columns if name in series or model.resolve(name) in series]
    if isinstance(tree, Name) and len(moving) == 1:
        path = tree.path if tree.path in series else model.resolve(tree.path)
        return LossExpression(path, series[path])
    if not moving:
        raise UsageError(f"--loss: '{text}' does not depend on any signal of the telemetry")
    return _computed(text, tree, columns, moving, series, model)


def _computed(
    text: str, tree: Tree, columns: Mapping[str, Floats], moving: list[str], series: Series, model: Model
) -> LossExpression:
    from coherence.language.expressions.tree import Number, rename

    def place(name: str) -> str | Tree:
        if name in moving:
            return name if name in series else model.resolve(name)
        return Number(Fraction(float(columns[name][0])))

    placed = rename(tree, place)
    values = np.broadcast_to(np.asarray(lower_numpy(tree, dict(columns)), np.float64), (len(series),)).copy()
    paths = list(names(placed))
    slopes = _slopes(placed, paths)
    equation = None if slopes is None else Equation(text, tuple((path, 0) for path in paths), exact=slopes)
    return LossExpression(text, values, placed, equation)


def _slopes(tree: Tree, paths: list[str]) -> tuple[float, ...] | None:
    """The coefficients of an expression that is linear in its names; None where it is not."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 3, (2 * len(paths) + 3, len(paths)))
    with np.errstate(all="ignore"):
        heights = np.asarray(lower_numpy(tree, {p: points[:, k] for k, p in enumerate(paths)}), np.float64)
    if heights.shape != (len(points),) or not np.isfinite(heights).all():
        return None
    table = np.column_stack([np.ones(len(points)), points])
    slopes, *_ = np.linalg.lstsq(table, heights, rcond=None)
    off = np.abs(table @ slopes - heights).max()
    return tuple(slopes[1:].tolist()) if off <= 1e-9 * (1 + np.abs(heights).max()) else None


def _parsed(text: str) -> Tree:
    from coherence.language.expressions.tree import Call, Held, walk

    try:
        tree = parse(text)
    except ExpressionError as error:
        raise UsageError(f"--loss: cannot read '{text}': {error}") from None
    bad = [node.function for node in walk(tree) if isinstance(node, Call) and node.function in FORBIDDEN]
    if bad or any(isinstance(node, Held) for node in walk(tree)):
        raise UsageError(
            f"--loss: '{bad[0] if bad else 'for'}' is not known here; write arithmetic, min, max, if .. else"
        )
    return tree


def _constants(model: Model) -> dict[str, float]:
    return {
        path: float(constant.range.low)
        for path, constant in model.constants.items()
        if constant.range.exact and constant.range.low is not None
    }
