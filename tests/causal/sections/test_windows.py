"""Two stretches compared: what an input and a mechanism each made of the change of a loss."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.answers.answer import Section
from coherence.causal.sections import windows
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables

LOSS = "trainer.step_time"
ROWS = 400


def changed(seed: int = 1) -> dict[str, np.ndarray]:
    """Reads rise from 5 to 8, and each costs 3 instead of 2, in the middle of 8,000 s."""
    rng = np.random.default_rng(seed)
    reads = np.concatenate([5 + rng.normal(0, 1, ROWS), 8 + rng.normal(0, 1, ROWS)])
    wait = reads * np.repeat([2.0, 3.0], ROWS) + rng.normal(0, 0.1, 2 * ROWS)
    return {"disk.reads": reads, "loader.wait": wait, LOSS: 1.5 * wait + rng.normal(0, 0.1, 2 * ROWS)}


def amounts(section: Section | None) -> dict[tuple[str, str], float]:
    assert section is not None
    return {(one["cause"], one["kind"]): one["amount"]["value"] for one in section.data["contributions"]}


def test_the_input_and_the_mechanism_share_what_they_only_together_make() -> None:
    """By Shapley, from 1.5 * 2 * 5 = 15 to 1.5 * 3 * 8 = 36: reads made (9 + 13.5) / 2, the cost (7.5 + 12) / 2."""
    section = windows.answer(context(CHAIN, changed(), loss=LOSS, against=(0.0, 4000.0)))
    assert section is not None
    parts = amounts(section)
    assert parts["disk.reads", "input"] == pytest.approx(11.25, abs=0.5)
    assert parts["loader.wait", "mechanism"] == pytest.approx(9.75, abs=0.5)
    assert sum(parts.values()) == pytest.approx(section.data["after"] - section.data["before"])
    assert {one["signal"]: one["changed"] for one in section.data["mechanisms"]} == {"loader.wait": True, LOSS: False}
    assert lines(section)[0] == "beyond noise: yes"
    assert lines(section)[1].startswith("loader.wait: acts differently now (p = ")
    assert lines(section)[2].startswith(f"{LOSS}: no change is seen in the strength of what acts on it")


def test_the_table_begins_with_the_largest_and_ends_with_the_change() -> None:
    signals = changed()
    section = windows.answer(context(CHAIN, signals, loss=LOSS, against=(0.0, 4000.0)))
    (table,) = tables(section)
    assert [row[0] for row in table.rows[:2]] == ["disk.reads", "loader.wait"]
    assert table.rows[-1][0] == "change"
    means = [float(signals[LOSS][part].mean()) for part in (slice(2, ROWS), slice(ROWS + 2, None))]  # two have no past
    assert table.rows[-1][1] == f"{means[0]:.4g} to {means[1]:.4g}"
    assert sum(float(row[3].removesuffix(" %")) for row in table.rows[:-1]) == pytest.approx(100, abs=0.3)


def test_against_itself_backwards_everything_changes_its_sign() -> None:
    forward = windows.answer(context(CHAIN, changed(), loss=LOSS, against=(0.0, 4000.0), window=(4000.0, 8000.0)))
    back = windows.answer(context(CHAIN, changed(), loss=LOSS, against=(4000.0, 8000.0), window=(0.0, 4000.0)))
    backwards = amounts(back)
    for key, amount in amounts(forward).items():
        assert backwards[key] == pytest.approx(-amount, abs=1e-6)


def test_stretches_that_share_times_are_refused() -> None:
    with pytest.raises(UsageError, match=r"0\.\.2000 shares times with the window 1990\.\.7980"):
        windows.answer(context(CHAIN, changed(), loss=LOSS, against=(0.0, 2000.0), window=(1990.0, 7990.0)))


def test_a_stretch_that_is_too_short_is_refused_with_its_length() -> None:
    section = windows.answer(context(CHAIN, chain(), loss=LOSS, against=(0.0, 300.0)))
    assert lines(section) == ["refused: windows of 30 and 370 samples: each needs 100 to be compared"]


def test_without_a_loss_it_is_the_normal_time_of_a_ranking_or_a_mistake() -> None:
    assert windows.answer(context(CHAIN, chain(), loss=LOSS)) is None
    assert windows.answer(context(CHAIN, chain(), against=(0.0, 90.0), rank=LOSS)) is None
    with pytest.raises(UsageError, match="name the loss with --loss"):
        windows.answer(context(CHAIN, chain(), against=(0.0, 90.0)))
