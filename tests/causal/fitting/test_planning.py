"""Plans of regressions: the columns they need, and equations that the rows cannot bear."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.gram import Grams
from coherence.causal.fitting.planning import FEWEST_ROWS, EquationPlan, believable, planned
from tests.causal.systems import graph, late, table, wandering


def plan_of(rows: int = 400) -> EquationPlan:
    rng = np.random.default_rng(3)
    a = wandering(rng, rows, 0.5)
    b = np.roll(a, 1) * 2 + rng.standard_normal(rows)
    return planned(table(a=a, b=b), graph(late("a", "b")))


def test_every_effect_has_an_equation_and_every_signal_a_column() -> None:
    plan = plan_of()
    assert plan.equations["b"].columns == (("a", 1),)
    assert plan.columns[:2] == (("a", 0), ("b", 0))
    assert ("a", 1) in plan.columns
    assert len(set(plan.columns)) == len(plan.columns)
    assert plan.step == 1.0


def test_a_stated_equation_takes_the_place_of_the_chosen_one() -> None:
    mine = Equation("b", (("a", 3),))
    assert plan_of().having([mine]).equations["b"] is mine
    rng = np.random.default_rng(3)
    series = table(a=wandering(rng, 200, 0.5), b=wandering(rng, 200, 0.5))
    assert planned(series, graph(late("a", "b")), [mine]).equations["b"] is mine


def sums(plan: EquationPlan, rows: int) -> Grams:
    width = len(plan.columns) + 1
    rng = np.random.default_rng(1)
    data = rng.standard_normal((rows, width))
    data[:, 0] = 1
    nothing = np.zeros(width - 1)
    return Grams(plan.columns, nothing, nothing + 1, (data.T @ data)[None], np.array([float(rows)]))


@pytest.mark.parametrize(("missing", "borne"), [(0, True), (1, False)])
def test_an_equation_needs_twenty_rows_and_one_for_each_column(missing: int, borne: bool) -> None:
    plan = plan_of()
    needed = FEWEST_ROWS + len(plan.equations["b"].used)
    assert needed == 22 + len(plan.equations["b"].controls) + len(plan.equations["b"].instruments) + 1  # and the trend
    after = believable(plan, [sums(plan, needed - missing)]).equations["b"]
    if borne:
        assert after.refused == ""
    else:
        assert after.refused == f"{needed - 1} rows are too few for what acts on b: {needed} are needed"
        assert after.lost == after.columns == (("a", 1),)
        assert after.measure == ("a longer record",)
