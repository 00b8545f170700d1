"""Slow plants under loops that look often: what a run reaches is what arithmetic says."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from coherence.language.expressions.tree import Tree
from coherence.model.model import Model
from coherence.simulate.execute.starts import corners
from coherence.verify.promises.decisions import Proved, Refuted, condition_of, decide
from coherence.verify.promises.edges_ahead import LAPS, followed_run
from tests.verify.promises.plants import model_of

# it fills by `rise` a second up to `full`, where a loop that looks each second stops it for good
FILLING = """coherence: 1
components: {{disk: {{state: "x' = {rise} * (1 - stop.on)", from: 0}}}}
loops:
  block:
    timescale: {{period: 1 s, phase: 0 s}}
    rules: [{{when: disk.x >= {full}, to: 1}}, {{when: disk.x < {low}, to: 0}}]
    actuation: {{signal: stop.on, bounds: [0, 1], from: 0}}
promises: {{p: "eventually_always stop.on < 1"}}
"""


def promised(model: Model) -> tuple[str, Tree]:
    return "eventually_always", condition_of(model, model.promises["p"])


@pytest.mark.parametrize(
    ("rise", "full", "low"),
    [pytest.param("0.01 / 1 s", 9, 5, marks=pytest.mark.slow), ("0.02 / 1 s", 9, 8), ("1 / 1 s", 30, 3)],
)
def test_a_plant_that_fills_for_a_thousand_laps_is_followed_until_it_is_full(rise: str, full: int, low: int) -> None:
    model = model_of(FILLING.format(rise=rise, full=full, low=low))
    run = followed_run(model, next(iter(corners(model))), (), promised(model))
    stopped = next(instant.time for instant in run.instants if instant.after["stop.on"] == 1)
    assert run.orbit is not None
    assert stopped == math.ceil(full / Fraction(rise.removesuffix(" / 1 s")))
    assert isinstance(decide(model, model.promises["p"], time_limit=20), Refuted)


def test_a_plant_without_an_edge_ahead_is_given_up_after_the_usual_laps() -> None:
    model = model_of(FILLING.format(rise="-1 / 1 s", full=9, low=0))
    assert len(followed_run(model, next(iter(corners(model))), (), promised(model)).instants) == LAPS + 1


def test_what_never_is_has_never_lasted() -> None:
    text = FILLING.format(rise="-0.5 * x / 1 s", full=9, low=1).replace("eventually_always stop.on < 1", "{promise}")
    text = text.replace("from: 0}", "step: 1 s, from: 3}", 1).replace("-0.5 * x / 1 s * (1 - stop.on)", "0.5 * x")
    for promise, kept in (("never stop.on >= 1 for 9 s", True), ("never stop.on < 1 for 9 s", False)):
        model = model_of(text.replace("{promise}", promise))
        assert isinstance(decide(model, model.promises["p"], time_limit=20), Proved if kept else Refuted)
