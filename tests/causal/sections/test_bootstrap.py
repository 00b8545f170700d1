"""The bootstrap beside the jackknife: same values, an interval around each, and nothing that cannot be told."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import bootstrap
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables
from tests.causal.systems import steady_slopes

LOSS = "trainer.step_time"


def test_strengths_are_slopes_and_shares_are_their_products() -> None:
    signals = chain()
    reads, wait, step_time = signals.values()
    (first,), (second,) = steady_slopes(wait, reads), steady_slopes(step_time, wait)
    reads, wait = reads[2:], wait[2:]  # the first two have no past
    section = bootstrap.answer(context(CHAIN, signals, loss=LOSS, bootstraps=200))
    assert section is not None
    values = {(row["cause"], row["what"]): row["value"] for row in section.data["estimates"]}
    assert values == {
        ("disk.reads", "strength after 0 s"): pytest.approx(first),
        ("loader.wait", "strength after 0 s"): pytest.approx(second),
        ("disk.reads", "share"): pytest.approx(first * second * reads.mean()),
        ("loader.wait", "share"): pytest.approx(second * (wait.mean() - first * reads.mean())),
    }
    for row in section.data["estimates"]:
        low, high = row["bootstrap"]
        assert low < row["value"] < high
        width = row["jackknife"][1] - row["jackknife"][0]
        assert 0.4 * width < high - low < 1.5 * width  # both are 95 % of the same estimate
    assert (section.data["draws"], section.data["batches"]) == (200, 10)


def test_without_chance_both_intervals_are_points() -> None:
    section = bootstrap.answer(context(CHAIN, chain(noise=0.0), loss=LOSS, bootstraps=20))
    assert section is not None
    for row in section.data["estimates"]:
        if row["what"] != "share":
            assert row["bootstrap"] == pytest.approx([row["value"]] * 2)


@pytest.mark.parametrize(("count", "refused"), [(19, True), (20, False)])
def test_an_interval_needs_twenty_draws(count: int, refused: bool) -> None:
    section = bootstrap.answer(context(CHAIN, chain(), loss=LOSS, bootstraps=count))
    assert section is not None
    assert ("refused" in section.data) is refused
    assert (lines(section) == ["refused: an interval needs 20 draws or more"]) is refused


def test_shares_are_told_of_a_loss_without_a_reference_alone() -> None:
    for loss, reference in ((None, {}), (LOSS, {"disk.reads": 1.0})):
        section = bootstrap.answer(context(CHAIN, chain(), bootstraps=20, loss=loss, reference=reference))
        assert [row[2] for row in tables(section)[0].rows] == ["strength after 0 s"] * 2


def test_of_causes_that_move_together_no_strength_is_told() -> None:
    """Truth: x alone acts, with 2; any split over the two would be drawn with a narrow, wrong interval."""
    rng = np.random.default_rng(0)
    x, y = 5 + rng.normal(0, 1, (2, 400))
    design = """coherence: 1
components:
  a: {out: x.level * k + z.level * m + y.level * l, k: 0 .. 10, m: 0 .. 10, l: 0 .. 10}
"""
    signals = {"x.level": x, "z.level": 3 * x, "y.level": y, "a.out": 2 * x + y + rng.normal(0, 0.1, 400)}
    section = bootstrap.answer(context(design, signals, bootstraps=20))
    assert [row[0] for row in tables(section)[0].rows] == ["y.level"]


def test_it_is_told_only_where_it_is_asked_for() -> None:
    assert bootstrap.answer(context(CHAIN, chain(), loss=LOSS)) is None
    assert bootstrap.answer(context(CHAIN, {"disk.reads": chain()["disk.reads"]}, bootstraps=20)) is None
