"""Tries estimators on a causal graph with known random coefficients, where nothing is left to chance.

Whether a coefficient can be told from what is observed is a property of the graph.  It is tested on the graph itself:
coefficients are drawn, the exact second moments of everything observed follow, and the estimator either returns the
drawn coefficient or does not.  One that fails on a generic draw is not identified by that estimator; one that returns
the truth on several independent draws is, for almost all coefficients (identifiability is an algebraic property).
What is latent remembers its past in any way; the own part of an observed signal for two steps, in circles too, where
the past of the effect is a common cause of everything.  SOURCE: Pearl 2009, 5.3 (linear systems); the test by generic
draws is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coherence.causal.data.series import Floats
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.graph import CausalGraph

Edge: TypeAlias = tuple[str, str, int]  # cause, effect, delay in steps
DRAWS = 3
LARGEST = 100.0  # of a chance on any signal in a draw
SAME = 1e-6  # relative: a coefficient is found, a correlation is none


@dataclass(frozen=True)
class Draw:
    """One system with known coefficients.  `mixing`: every signal at every time over independent chances."""

    nodes: tuple[str, ...]
    depth: int
    coefficients: Mapping[Edge, float]
    mixing: Floats  # (depth * nodes, depth * nodes)

    def row(self, column: Column) -> Floats:
        """What a signal, so many steps before the end, is made of."""
        name, lag = column
        return np.asarray(self.mixing[(self.depth - 1 - lag) * len(self.nodes) + self.nodes.index(name)], np.float64)

    def moments(self, rows: Iterable[Column], columns: Iterable[Column]) -> Floats:
        """Exact second moments between two lists of columns."""
        return np.stack([self.row(row) for row in rows]) @ np.stack([self.row(column) for column in columns]).T


def edges_of(graph: CausalGraph, delays: Mapping[tuple[str, str], tuple[int, ...]], step: float) -> tuple[Edge, ...]:
    """Every influence with its delays in steps; where the data chose no delay (a latent end), the shortest one."""
    edges = []
    for influence in graph.influences:
        chosen = delays.get((influence.cause, influence.effect)) or (
            max(influence.lags(step).start, int(influence.cause == influence.effect)),
        )
        edges += [(influence.cause, influence.effect, lag) for lag in chosen]
    return tuple(dict.fromkeys(edges))


def draws(
    nodes: Iterable[str], edges: Iterable[Edge], deepest: int, short: Iterable[str] = (), *, count: int = DRAWS
) -> tuple[Draw, ...]:
    """Independent systems on one graph; `deepest`: the longest delay that will be asked for.

    `short`: signals whose own part is an autoregression of two steps; that of others remembers in any way.
    """
    every, ways, brief = tuple(dict.fromkeys(nodes)), tuple(edges), frozenset(short)
    depth = deepest + max((lag for *_, lag in ways), default=0) + 2
    return tuple(_draw(every, ways, depth, brief, np.random.default_rng(seed)) for seed in range(count))


def _draw(
    nodes: tuple[str, ...], edges: tuple[Edge, ...], depth: int, short: frozenset[str], rng: np.random.Generator
) -> Draw:
    drawn = {edge: float(rng.uniform(0.25, 0.75) * rng.choice([-1.0, 1.0])) for edge in edges}
    chances = _chances(nodes, depth, short, rng)
    mixing = _mixed(nodes, drawn, depth, chances)
    while np.abs(mixing).max() > LARGEST:  # circles that grow: numbers far apart would hide what is exact
        drawn = {edge: 0.7 * strength for edge, strength in drawn.items()}
        mixing = _mixed(nodes, drawn, depth, chances)
    return Draw(nodes, depth, drawn, mixing)


def _chances(nodes: tuple[str, ...], depth: int, short: frozenset[str], rng: np.random.Generator) -> Floats:
    """Own part of every signal at every time over independent chances."""
    size = len(nodes)
    sizes = rng.uniform(0.5, 1.5, size)
    covariance = np.zeros((depth * size, depth * size))
    for place, name in enumerate(nodes):
        memory = _memory(depth, name in short, rng)
        for time in range(depth):
            covariance[time * size + place, place : (time + 1) * size : size] = sizes[place] * memory[time::-1]
    return covariance


def _mixed(nodes: tuple[str, ...], drawn: Mapping[Edge, float], depth: int, chances: Floats) -> Floats:
    """Every signal at every time over independent chances."""
    size, at = len(nodes), {name: number for number, name in enumerate(nodes)}
    direct = np.zeros((depth * size, depth * size))
    for time in range(depth):
        for (cause, effect, lag), strength in drawn.items():
            if lag <= time:
                direct[time * size + at[effect], (time - lag) * size + at[cause]] += strength
    return np.asarray(np.linalg.solve(np.eye(depth * size) - direct, chances), np.float64)


def _memory(depth: int, short: bool, rng: np.random.Generator) -> Floats:
    """How much of a chance is left 0, 1, .. steps later."""
    first, second = rng.uniform(0.3, 0.8) ** (8 / max(depth, 8)), rng.uniform(-0.5, 0.5)  # felt over the whole trial
    steps = np.arange(depth)
    if short:
        return np.asarray(np.convolve(first**steps, second**steps)[:depth], np.float64)
    return np.asarray(np.where(steps == 0, 1.0, rng.uniform(0.3, 1.2, depth) * first**steps), np.float64)
