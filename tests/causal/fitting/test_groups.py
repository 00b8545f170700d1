"""Causes that move together, exactly or nearly: one share with the interval of their sum."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.fitting.effects import Attribution, attribute
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import Influence
from tests.causal.systems import graph, table, wandering

WAYS = graph(Influence("a", "y"), Influence("b", "y"), Influence("c", "y"))


def split(correlation: float, seed: int) -> tuple[Attribution, float]:
    """The shares of y = 1.5 a + 0.5 b + c, and what a and b make together."""
    rng = np.random.default_rng(seed)
    common, apart, c = (wandering(rng, 2000, 0.6) for _ in range(3))
    a, b = common + 3, 2 * (correlation * common + (1 - correlation**2) ** 0.5 * apart) + 6
    y = 1.5 * a + 0.5 * b + c + wandering(rng, 2000, 0.5, 0.5)
    return attribute(fit(table(a=a, b=b, c=c, y=y), WAYS), "y"), float(1.5 * a.mean() + 0.5 * b.mean())


@pytest.mark.parametrize("correlation", [0.99999, 0.999999, 1.0])
def test_nearly_the_same_causes_are_one_share_with_a_narrow_interval(correlation: float) -> None:
    inside = 0
    for seed in range(10):
        found, truth = split(correlation, seed)
        tied = [share for share in found.shares if share.refused]
        assert [share.members for share in tied] == [("a", "b")]
        assert tied[0].amount.error < 0.02 * truth
        inside += truth in tied[0].amount
    assert inside >= 8


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.99])
def test_causes_that_can_be_told_apart_are(correlation: float) -> None:
    found, _ = split(correlation, 1)
    assert not [share for share in found.shares if share.refused]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("offset", [7.0, -0.01, 400.0])
def test_one_signal_with_an_offset_has_no_sum_against_0(offset: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, c = wandering(rng, 2000, 0.6) + 3, wandering(rng, 2000, 0.6) + 1
    series = table(a=a, b=offset - 3 * a, c=c, y=2 * a + c + wandering(rng, 2000, 0.5, 0.5))
    found = attribute(fit(series, WAYS), "y")
    tied = {share.members: share for share in found.shares if share.refused}
    assert set(tied) == {("a", "b", "y")}
    assert "one signal but for an offset" in tied["a", "b", "y"].refused
    assert found.error < 1e-12
    assert abs(tied["a", "b", "y"].amount.value - 2 * a.mean()) < 0.3  # with what y has of its own: near 0


@pytest.mark.parametrize("seed", range(3))
def test_a_reference_on_the_line_of_one_signal_with_an_offset_lets_the_sum_be_told(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, c = wandering(rng, 2000, 0.6) + 3, wandering(rng, 2000, 0.6) + 1
    fitted = fit(table(a=a, b=7 - 3 * a, c=c, y=2 * a + c + wandering(rng, 2000, 0.5, 0.5)), WAYS)
    told = [share for share in attribute(fitted, "y", reference={"a": 1.0, "b": 4.0}).shares if share.refused]
    assert [share.members for share in told] == [("a", "b")]
    assert abs(told[0].amount.value - 2 * (a.mean() - 1)) < 4 * told[0].amount.error
    other = [share for share in attribute(fitted, "y", reference={"a": 1.0}).shares if share.refused]
    assert [share.members for share in other] == [("a", "b", "y")]


@pytest.mark.parametrize("scale", [3.0, -3.0, 1e-6])
def test_one_signal_without_an_offset_has_a_sum(scale: float) -> None:
    rng = np.random.default_rng(1)
    a, c = wandering(rng, 2000, 0.6) + 3, wandering(rng, 2000, 0.6) + 1
    fitted = fit(table(a=a, b=scale * a, c=c, y=2 * a + c + wandering(rng, 2000, 0.5, 0.5)), WAYS)
    told = [share for share in attribute(fitted, "y").shares if share.refused]
    assert [share.members for share in told] == [("a", "b")]
    assert abs(told[0].amount.value - 2 * a.mean()) < 4 * told[0].amount.error
