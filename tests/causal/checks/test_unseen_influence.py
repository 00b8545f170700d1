"""A note about an unseen influence gives a bound only where the telemetry gives one."""

from __future__ import annotations

import numpy as np

from coherence.causal.checks.unseen_influence import ask
from coherence.causal.data.series import Floats, Series
from coherence.causal.session.context import Context, FitSettings
from coherence.language.reading import read_text

DESIGN = read_text("coherence: 1\ncomponents: {job: {loss: src.a * k, k: -9 .. 9}}\n", "d.yaml")


def messages(cause: Floats, effect: Floats) -> list[str]:
    series = Series(("src.a", "job.loss"), np.column_stack([cause, effect]), 15.0)
    return [finding.message for finding in ask(Context(DESIGN, series, FitSettings()))]


def test_an_effect_that_rests_where_it_is_fitted_bounds_nothing() -> None:
    rng = np.random.default_rng(1)
    rests = np.ones(400)
    rests[0] = 0.0
    (message,) = messages(rng.normal(size=400), rests)
    assert "nor that it does not" in message
    assert "per unit" not in message


def test_an_effect_that_moves_by_itself_bounds_the_influence() -> None:
    rng = np.random.default_rng(2)
    cause, effect = rng.normal(size=(2, 400))
    (message,) = messages(cause, effect)
    assert "per unit at most" in message
