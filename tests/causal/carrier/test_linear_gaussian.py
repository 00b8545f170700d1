"""pgmpy carries the fitted network: its joint distribution is ours, and its traps are not stepped into."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherence.causal.carrier.linear_gaussian as module
from coherence.base.errors import UsageError
from coherence.causal.carrier.linear_gaussian import (
    Carried,
    GaussianNetwork,
    _past,
    _remember,
    effect,
    from_pgmpy,
    joint,
    network,
    order,
    simulated,
    to_pgmpy,
)
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.graph import CausalGraph, Influence
from tests.draws import few


def intervened(net: GaussianNetwork, fixed: Mapping[Column, float]) -> GaussianNetwork:
    """Returns the network where columns are held at values: nothing acts on them, and they do not vary.

    The rest of the past stays distributed as it was: one delayed node tells of another, and does not act on it.
    """
    matrix, constant, variance = net.matrix.copy(), net.constant.copy(), net.variance.copy()
    past = _past(net)
    if any(lag for _, lag in fixed):
        mean, covariance = joint(net)
        others = [row for row in past if net.columns[row] not in fixed]
        matrix[past] = 0.0
        _remember(matrix, variance, covariance, others)
        constant[others] = mean[others] - matrix[others] @ mean
    for column, level in fixed.items():
        row = net.index(column)
        matrix[row], constant[row], variance[row] = 0.0, level, 0.0
    return GaussianNetwork(net.columns, matrix, constant, variance)


pytest.importorskip("pgmpy")
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
NASTY = ("q.len", "a-b", "C(x)", "two words", "1", "v0002", "I(x**2)", "")


def columns(*names: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, 0) for name in names)


def random_network(size: int, seed: int) -> GaussianNetwork:
    random = np.random.default_rng(seed)
    matrix = np.tril(random.uniform(-1, 1, (size, size)) * (random.random((size, size)) < 0.5), -1)
    shuffled = random.permutation(size)
    names = columns(*(f"s{number}" for number in range(size)))
    return GaussianNetwork(
        names, matrix[np.ix_(shuffled, shuffled)], random.normal(size=size), random.uniform(0.1, 2, size)
    )


def pgmpy_joint(carried: Carried, found: GaussianNetwork) -> tuple[Floats, Floats]:
    """pgmpy's mean and covariance, in the order of the network's columns (its own is topological)."""
    import networkx as nx

    mean, covariance = carried.model.to_joint_gaussian()
    ordered = list(nx.topological_sort(carried.model))
    at = [ordered.index(next(n for n, c in carried.names.items() if c == column)) for column in found.columns]
    return np.asarray(mean)[at], np.asarray(covariance)[np.ix_(at, at)]


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**31 - 1))
def test_pgmpy_has_the_same_joint_distribution_and_comes_back_whole(size: int, seed: int) -> None:
    found = random_network(size, seed)
    carried = to_pgmpy(found)
    assert carried.model.check_model()
    for ours, theirs in zip(joint(found), pgmpy_joint(carried, found), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=5.1e-9 + 1e-13 * np.abs(ours).max())
    for standard in (False, True):
        again = from_pgmpy(to_pgmpy(found, standard=standard))
        at = [again.index(column) for column in found.columns]
        np.testing.assert_allclose(again.matrix[np.ix_(at, at)], found.matrix, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(again.constant[at], found.constant, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(again.variance[at], found.variance, rtol=1e-12)


def test_any_name_is_carried_and_pgmpy_fits_it_as_we_do() -> None:
    import pandas as pd

    size = len(NASTY)
    random = np.random.default_rng(2)
    found = GaussianNetwork(
        columns(*NASTY), np.tril(random.uniform(0.2, 1, (size, size)), -1), np.zeros(size), np.full(size, 0.5)
    )
    carried = to_pgmpy(found)
    assert all(name.isidentifier() and name.isascii() for name in carried.model.nodes())
    assert set(carried.names.values()) == set(found.columns)
    drawn = simulated(found, 4000, 1)
    names = {column: name for name, column in carried.names.items()}
    carried.model.fit(pd.DataFrame({names[column]: drawn[:, number] for number, column in enumerate(found.columns)}))
    again = from_pgmpy(carried)
    series = Series(NASTY, drawn, 1.0)
    graph = CausalGraph(NASTY, tuple(Influence(NASTY[c], NASTY[e]) for e in range(size) for c in range(e)))
    plain = [Equation(NASTY[e], columns(*NASTY[:e])) for e in range(1, size)]
    ours = network(fit(series, graph, plain))
    for cause, effect_ in itertools.combinations(range(size), 2):
        pair = (again.index(found.columns[effect_]), again.index(found.columns[cause]))
        own = (ours.index(found.columns[effect_]), ours.index(found.columns[cause]))
        assert float(again.matrix[pair]) == pytest.approx(float(ours.matrix[own]), rel=1e-6, abs=1e-8)


def test_an_effect_counts_every_way_where_pgmpy_counts_wrongly() -> None:
    """A mediated cause: 0.2 directly and 0.5 through the mediator."""
    found = GaussianNetwork(
        columns("x", "m", "y"), np.array([[0, 0, 0], [1.0, 0, 0], [0.2, 0.5, 0]]), np.zeros(3), np.ones(3)
    )
    assert effect(found, ("x", 0), ("y", 0)) == pytest.approx(0.7, abs=1e-15)
    assert effect(found, ("y", 0), ("x", 0)) == 0.0
    apart = [joint(intervened(found, {("x", 0): level}))[0][2] for level in (0.0, 1.0)]
    assert apart[1] - apart[0] == pytest.approx(0.7, abs=1e-15)
    code = Path(module.__file__).read_text(encoding="utf-8")
    assert not any(
        word in code for word in ("CausalInference", "pgmpy.estimators", "get_example_model", "pgmpy.inference")
    )


def test_an_intervention_cuts_what_acts_and_answers_where_pgmpy_does_not() -> None:
    found = random_network(6, 3)
    held = found.columns[2]
    mean, covariance = joint(intervened(found, {held: 7.0}))
    assert mean[2] == pytest.approx(7.0)
    np.testing.assert_allclose(covariance[2], 0.0, atol=1e-12)
    drawn = simulated(intervened(found, {held: 7.0}), 40_000, 4)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * np.sqrt(np.diagonal(covariance).max() / 40_000))


def test_small_units_survive_pgmpy_s_rounding() -> None:
    """Milliseconds in seconds: variances of 1e-10 are 0 at eight decimals."""
    found = GaussianNetwork(
        columns("a", "b"), np.array([[0, 0], [0.5, 0]]), np.array([1e-3, 0]), np.array([1e-10, 1e-10])
    )
    raw = pgmpy_joint(to_pgmpy(found), found)[1]
    assert raw[1, 1] == 0.0, "the trap"
    scaled = pgmpy_joint(to_pgmpy(found, standard=True), found)[1]
    assert scaled[0, 1] == pytest.approx(0.5 / np.sqrt(1.25), abs=1e-8)


def lagged_series(count: int) -> Series:
    random = np.random.default_rng(5)
    made = random.standard_normal((count, 3)) * [1.0, 0.5, 0.2] + [2.0, 0.0, -1.0]
    for time in range(2, count):
        made[time, 0] += 0.6 * made[time - 1, 0]
        made[time, 1] += 0.8 * made[time - 2, 0]
        made[time, 2] += -0.5 * made[time, 1] + 0.3 * made[time - 1, 2]
    return Series(("load", "queue", "rate"), made, 1.0)


GRAPH = CausalGraph(
    ("load", "queue", "rate"),
    (
        Influence("load", "load", 1, 1), Influence("load", "queue", 2, 2),  # type: ignore[arg-type]
        Influence("queue", "rate"), Influence("rate", "rate", 1, 1),  # type: ignore[arg-type]
    ),
)  # fmt: skip


def test_delays_are_nodes_of_their_own_with_the_past_as_it_was() -> None:
    series = lagged_series(5000)
    fitted = fit(series, GRAPH)
    found = network(fitted)
    assert {("load", 2), ("load", 1), ("rate", 1)} <= set(found.columns)
    mean, covariance = joint(found)
    past = [number for number, (_, lag) in enumerate(found.columns) if lag]
    deepest = max(lag for _, lag in found.columns)
    deepest = max(deepest, *(lag for _, lag in fitted.grams.columns))
    rows = np.column_stack([series[name][deepest - lag : len(series) - lag] for name, lag in found.columns])
    np.testing.assert_allclose(covariance[np.ix_(past, past)], np.cov(rows[:, past].T, bias=True), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-9, atol=1e-9)
    assert effect(found, ("load", 2), ("rate", 0)) == pytest.approx(-0.4, abs=0.05)
    held = intervened(found, {("load", 2): 5.0})
    rest = [number for number in past if found.columns[number] != ("load", 2)]
    np.testing.assert_allclose(joint(held)[1][np.ix_(rest, rest)], covariance[np.ix_(rest, rest)], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(joint(held)[0][rest], mean[rest], rtol=1e-9, atol=1e-9)
    moved = joint(intervened(found, {("load", 2): 6.0}))[0] - joint(held)[0]
    assert moved[found.index(("rate", 0))] == pytest.approx(effect(found, ("load", 2), ("rate", 0)), abs=1e-9)
    carried = to_pgmpy(found, standard=True)
    spread = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(pgmpy_joint(carried, found)[1], covariance / np.outer(spread, spread), rtol=0, atol=1e-8)


def test_circles_within_a_step_and_unknown_nodes_are_refused() -> None:
    circle = GaussianNetwork(columns("a", "b"), np.array([[0, 0.5], [0.5, 0]]), np.zeros(2), np.ones(2))
    for ask in (order, to_pgmpy):
        with pytest.raises(UsageError, match=r"causes form a circle within one step \((a -> b -> a|b -> a -> b)\)"):
            ask(circle)
    with pytest.raises(UsageError, match="no node 'c@0'"):
        effect(circle, ("c", 0), ("a", 0))
    carried = to_pgmpy(random_network(3, 1))
    carried.model.remove_cpds("v0001")
    with pytest.raises(UsageError, match="no distribution for v0001"):
        from_pgmpy(carried)


@pytest.mark.slow
def test_reading_this_module_imports_no_pgmpy() -> None:
    modules = "coherence.causal.carrier.linear_gaussian, coherence.causal.ranking.rank"
    code = f"import sys, {modules}; print('pgmpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
