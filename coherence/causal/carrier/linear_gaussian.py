"""Converts a fitted linear network to pgmpy's LinearGaussianBayesianNetwork, and back.

    x = c + A x + u,  u independent with variances w;  mean (I - A)^-1 c, covariance (I - A)^-1 diag(w) (I - A)^-T

Every signal at every delay that counts is a node of its own.  Delayed nodes carry the joint distribution of the past
as it was measured: each is regressed on those before it.  What pgmpy would read wrongly is kept from it: names are
`v0001`, .. with a map (it parses names as formulas), effects and interventions are computed here (its estimates of
effects are wrong under mediation, and it answers no query on linear-Gaussian networks), and where its rounding to
eight decimals would lose small units, nodes can be carried in standard deviations from their mean.
SOURCE: Bollen 1989 (reduced form); Pearl 2009, 1.3 (intervention).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from coherence.base.errors import MissingExtraError, UsageError, did_you_mean
from coherence.causal.data.series import Floats
from coherence.causal.fitting.fit import Fitted
from coherence.causal.fitting.gram import Column


@dataclass(frozen=True)
class GaussianNetwork:
    """`matrix[i, j]`: the direct effect of columns[j] on columns[i]; `constant`, `variance` of what is its own."""

    columns: tuple[Column, ...]
    matrix: Floats
    constant: Floats
    variance: Floats

    def index(self, column: Column) -> int:
        """Where a column stands."""
        if column not in self.columns:
            known = [f"{name}@{lag}" for name, lag in self.columns]
            raise UsageError(f"no node '{column[0]}@{column[1]}': {did_you_mean(f'{column[0]}@{column[1]}', known)}")
        return self.columns.index(column)


@dataclass(frozen=True)
class Carried:
    """pgmpy's model.  `names`: its name of a node -> (signal, steps before); value = offset + scale * pgmpy's value."""

    model: Any
    names: Mapping[str, Column]
    offset: Mapping[str, float]
    scale: Mapping[str, float]


def network(fitted: Fitted) -> GaussianNetwork:
    """The network of a fit.  Raises UsageError where causes form a circle within one step: no ordering carries that."""
    acting = [column for node in fitted.nodes.values() for column in node.equation.columns]
    columns = tuple(dict.fromkeys([*((name, 0) for name in fitted.signals), *acting]))
    past = [number for number, (_, lag) in enumerate(columns) if lag]
    covariance, mean = _moments(fitted, columns)
    matrix, variance = np.zeros((len(columns), len(columns))), np.diagonal(covariance).copy()
    _remember(matrix, variance, covariance, past)
    at = {column: number for number, column in enumerate(columns)}
    for effect, node in fitted.nodes.items():
        here = at[effect, 0]
        matrix[here, [at[column] for column in node.equation.columns]] = node.coefficients[0]
        variance[here] = node.noise**2
    gaussian = GaussianNetwork(columns, matrix, mean - matrix @ mean, variance)
    order(gaussian)
    return gaussian


def order(net: GaussianNetwork) -> tuple[int, ...]:
    """Causes before effects.  Raises UsageError naming a circle."""
    into = {row: set(np.flatnonzero(net.matrix[row]).tolist()) for row in range(len(net.columns))}
    try:
        return tuple(TopologicalSorter(into).static_order())
    except CycleError as error:
        circle = " -> ".join(net.columns[number][0] for number in reversed(error.args[1]))
        raise UsageError(
            f"causes form a circle within one step ({circle}): sample faster, so that the feedback takes at least one "
            "step, or ask for effects instead of a Bayesian network"
        ) from None


def joint(found: GaussianNetwork) -> tuple[Floats, Floats]:
    """(mean, covariance) of all columns."""
    total = np.linalg.inv(np.eye(len(found.columns)) - found.matrix)
    return total @ found.constant, total @ np.diag(found.variance) @ total.T


def effect(net: GaussianNetwork, cause: Column, of: Column) -> float:
    """What one unit more at `cause`, held from outside, adds to the mean of `of`, through every way.

    Among delayed nodes there is no way: their regressions on each other are the memory of the past, not its causes.
    """
    cut = net.matrix.copy()
    cut[net.index(cause)] = 0.0
    cut[_past(net)] = 0.0
    column = np.linalg.inv(np.eye(len(cut)) - cut)[:, net.index(cause)]
    return float(column[net.index(of)])


def simulated(net: GaussianNetwork, count: int, seed: int) -> Floats:
    """(count, columns): independent draws."""
    drawn = np.random.default_rng(seed).standard_normal((count, len(net.columns))) * np.sqrt(net.variance)
    drawn += net.constant
    for row in order(net):
        causes = np.flatnonzero(net.matrix[row])
        if len(causes):
            drawn[:, row] += drawn[:, causes] @ net.matrix[row, causes]
    return drawn


def to_pgmpy(net: GaussianNetwork, *, standard: bool = False) -> Carried:
    """The network as a LinearGaussianBayesianNetwork.  `standard`: nodes in standard deviations from their mean.

    Raises MissingExtraError without pgmpy, UsageError on a circle.
    """
    try:
        from pgmpy.factors.continuous import LinearGaussianCPD
        from pgmpy.models import LinearGaussianBayesianNetwork
    except ImportError as error:
        raise MissingExtraError("a network for pgmpy", "causal") from error
    ordered = order(net)
    names = {row: f"v{place:04d}" for place, row in enumerate(ordered, start=1)}
    mean, covariance = joint(net)
    spread = np.sqrt(np.diagonal(covariance))
    scale = np.where(spread > 0, spread, 1.0) if standard else np.ones(len(mean))
    offset = mean if standard else np.zeros(len(mean))
    model = LinearGaussianBayesianNetwork()
    model.add_nodes_from(names[row] for row in ordered)
    for row in ordered:
        causes = np.flatnonzero(net.matrix[row]).tolist()
        model.add_edges_from((names[cause], names[row]) for cause in causes)
        slopes = [float(net.matrix[row, cause] * scale[cause] / scale[row]) for cause in causes]
        constant = net.constant[row] + net.matrix[row] @ offset - offset[row]
        beta = [float(constant / scale[row]), *slopes]
        noise = float(np.sqrt(net.variance[row]) / scale[row])
        model.add_cpds(LinearGaussianCPD(names[row], beta, noise, [names[cause] for cause in causes]))
    return Carried(
        model,
        {names[row]: net.columns[row] for row in ordered},
        {names[row]: float(offset[row]) for row in ordered},
        {names[row]: float(scale[row]) for row in ordered},
    )


def from_pgmpy(carried: Carried) -> GaussianNetwork:
    """The network of a carried model (perhaps fitted again by pgmpy), in its own names and units."""
    names = tuple(carried.names)
    at = {name: number for number, name in enumerate(names)}
    matrix, constant, variance = np.zeros((len(names), len(names))), np.zeros(len(names)), np.zeros(len(names))
    offset, scale = (np.array([by[name] for name in names]) for by in (carried.offset, carried.scale))
    for name, row in at.items():
        cpd = carried.model.get_cpds(name)
        if cpd is None:
            raise UsageError(f"pgmpy's model has no distribution for {name} ({carried.names[name][0]}): fit it first")
        causes = [at[one] for one in cpd.evidence]
        matrix[row, causes] = np.asarray(cpd.beta[1:], float) * scale[row] / scale[causes]
        constant[row] = offset[row] + scale[row] * float(cpd.beta[0]) - matrix[row] @ offset
        variance[row] = (scale[row] * float(cpd.std)) ** 2
    return GaussianNetwork(tuple(carried.names.values()), matrix, constant, variance)


def _past(found: GaussianNetwork) -> list[int]:
    return [row for row, (_, lag) in enumerate(found.columns) if lag]


def _remember(matrix: Floats, variance: Floats, covariance: Floats, rows: list[int]) -> None:
    """Give these rows, one after another, their regressions on those before: together they have the covariance."""
    for place, row in enumerate(rows):
        before = rows[:place]
        slopes = np.linalg.lstsq(covariance[np.ix_(before, before)], covariance[before, row], rcond=1e-12)[0]
        matrix[row, before] = slopes
        variance[row] = max(float(covariance[row, row] - covariance[row, before] @ slopes), 0.0)


def _moments(fitted: Fitted, columns: tuple[Column, ...]) -> tuple[Floats, Floats]:
    """(covariance, mean) of the columns as measured."""
    whole, scale = fitted.grams.whole, fitted.grams.scale
    rows = whole[0, 0]
    if rows < 2:
        raise UsageError(f"{rows:g} complete rows: nothing to carry; give a longer record")
    places = fitted.grams.index(columns)
    scaled = whole[np.ix_(places, places)] / rows - np.outer(whole[places, 0], whole[places, 0]) / rows**2
    covariance = scaled * np.outer(scale[np.array(places) - 1], scale[np.array(places) - 1])
    mean = np.array([fitted.levels[column][0] for column in columns])
    return covariance, mean
