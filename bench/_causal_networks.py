"""Networks with known parameters: simulate, fit again, and compare every parameter with the truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.harness import Row
from bench.references.network_files import discrete_network, linear_network
from bench.references.probability_tables import distances
from coherence.causal.carrier.linear_gaussian import GaussianNetwork, joint, network, simulated, to_pgmpy
from coherence.causal.data.series import Series
from coherence.causal.fitting.fit import Fitted, fit
from coherence.causal.fitting.graph import CausalGraph, Influence

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "bayes-networks"
ROWS = 100_000
FEWEST = 200  # draws with the same causes from which an estimate has a normal error


def rows() -> Iterator[Row]:
    """All rows; none where the files are not there."""
    for path in sorted(DATA.glob("*.json")):
        yield from _linear(path)
    found = [(path.name.partition(".")[0], *_counted(path)) for path in sorted(DATA.glob("*.bif.gz"))]
    if found:
        worst = max(found, key=lambda one: one[1])
        said = f"{len(found)} discrete networks, {sum(one[2] for one in found)} probabilities from {ROWS} rows"
        yield Row(f"{said}: farthest from the truth ({worst[0]})", worst[1], "<= 5", "standard errors")


def _linear(path: Path) -> Iterator[Row]:
    truth = linear_network(path)
    again = refitted(truth, seed=1)
    far = farthest(truth, again)
    said = f"{path.stem}: {len(truth.columns)} signals, {int((truth.matrix != 0).sum())} coefficients from {ROWS} rows"
    yield Row(f"{said}: farthest from the truth", far, "<= 5", "standard errors")
    carried = network(again)
    model = to_pgmpy(carried, standard=True)
    _, covariance = joint(carried)
    at = [carried.index(column) for column in model.names.values()]
    spread = np.sqrt(np.diagonal(covariance))[at]
    theirs = model.model.to_joint_gaussian()[1]
    ours = covariance[np.ix_(at, at)] / np.outer(spread, spread)
    away = float(np.abs(ours - theirs).max())
    yield Row(
        f"{path.stem}: pgmpy's joint correlations against (I - A)^-1", away, "<= 1e-8", "1", "pgmpy rounds at 1e-8"
    )


def refitted(truth: GaussianNetwork, *, seed: int, count: int = ROWS) -> Fitted:
    """The fit of `count` draws on the network's own graph."""
    names = tuple(name for name, _ in truth.columns)
    pairs = np.argwhere(truth.matrix)
    graph = CausalGraph(names, tuple(Influence(names[cause], names[effect]) for effect, cause in pairs.tolist()))
    return fit(Series(names, simulated(truth, count, seed), 1.0), graph)


def farthest(truth: GaussianNetwork, again: Fitted) -> float:
    """The largest distance of a coefficient from the truth, in its standard errors."""
    names = [name for name, _ in truth.columns]
    return max(
        abs(float(estimate) - float(truth.matrix[names.index(effect), names.index(cause)])) / float(error)
        for effect, node in again.nodes.items()
        for (cause, _), estimate, error in zip(
            node.equation.columns, node.coefficients[0].tolist(), node.error.tolist(), strict=True
        )
    )


def _counted(path: Path) -> tuple[float, int]:
    tables = discrete_network(path)
    drawn = tables.drawn(ROWS, seed=1)
    far = np.concatenate([distances(table, drawn, fewest=FEWEST) for table in tables.tables])
    return float(far.max()), len(far)
