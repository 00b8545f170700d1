"""One more column beside an equation: its slope is that of least squares, and chance stays within its level."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.fit import FittedNode, fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.session.filtered_rows import FilteredRows, filtered_rows
from tests.causal.systems import wandering

GRAPH = CausalGraph(("a", "y"), (Influence("a", "y"),))


def rows_of(a: Floats, y: Floats) -> tuple[FilteredRows, FittedNode]:
    series = Series(("a", "y"), np.column_stack([a, y]), 15.0)
    fitted = fit(series, GRAPH)
    return filtered_rows(fitted.plan.clocks.added(series), fitted.nodes["y"]), fitted.nodes["y"]


def test_the_slope_of_a_further_column_is_that_of_least_squares_on_all_columns() -> None:
    rng = np.random.default_rng(1)
    a, z, noise = rng.normal(size=(3, 600))
    rows, _ = rows_of(a, 2 * a + 0.5 * z + noise)
    table = np.column_stack([rows.column(z, 0), rows.held, rows.effect])[2:]
    expected = np.linalg.lstsq(table[:, :-1], table[:, -1], rcond=None)[0][0]
    (result,) = rows.tests([rows.column(z, 0)])
    assert result.slope == pytest.approx(expected, rel=1e-9)
    assert result.p < 1e-3
    assert rows.holding(rows.column(z, 0)).tests([rows.column(z, 0)])[0].p == 1.0  # it is held already


def test_the_level_with_every_cause_at_nothing_is_the_constant_of_the_line() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=2000) + 3
    rows, node = rows_of(a, 2 * a - 4 + wandering(rng, 2000, 0.6, 1))
    (result,) = rows.tests([rows.held[:, -1]], constant=False)
    assert abs(result.slope + 4) < 4 * result.error
    assert result.p < 1e-3
    assert len(node.equation.columns) == 1


def test_chance_passes_a_level_as_often_as_it_says() -> None:
    """200 columns of noise beside errors with memory: 5 % of them at most pass 5 %, but for chance."""
    rng = np.random.default_rng(3)
    rows, _ = rows_of(wandering(rng, 2000, 0.9, 1), wandering(rng, 2000, 0.9, 1))
    p = [one.p for one in rows.tests([rows.column(wandering(rng, 2000, 0.9, 1), 0) for _ in range(200)])]
    assert sum(value < 0.05 for value in p) <= 20  # mean 10, standard deviation 3.1


def test_too_few_rows_tell_nothing() -> None:
    rng = np.random.default_rng(4)
    rows, _ = rows_of(*rng.normal(size=(2, 40)))
    assert rows.tests([rows.column(rng.normal(size=40), 0)])[0].p == 1.0
