"""What makes a loss vary slowly, and when its level changed."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import variance
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables
from tests.causal.systems import wandering

LOSS = "trainer.step_time"


def slow(rows: int = 3000) -> dict[str, np.ndarray]:
    """Reads that wander slowly, and a wait with fast chance of its own: the slow part of the loss is all reads."""
    rng = np.random.default_rng(2)
    reads = 20 + wandering(rng, rows, 0.9)
    wait = 2 * reads + rng.normal(0, 1, rows)
    return {"disk.reads": reads, "loader.wait": wait, LOSS: 1.5 * wait + rng.normal(0, 1, rows)}


def test_what_wanders_slowly_makes_the_slow_variance() -> None:
    """By hand, at frequency 0: reads 9 / (1 - 0.9)^2 = 900, the wait 1.5^2 = 2.25, the loss 1."""
    section = variance.answer(context(CHAIN, slow(), loss=LOSS))
    assert section is not None
    shares = {tuple(part["causes"]): part["share"] for part in section.data["parts"]}
    assert shares["disk.reads",] == pytest.approx(1, abs=0.15)
    assert shares["loader.wait",] < 0.02
    assert shares[LOSS,] < 0.02
    rows = tables(section)[0].rows
    assert [row[0] for row in rows][:1] == ["disk.reads"]
    assert "unexplained" in [row[0] for row in rows]
    assert rows[-1][0] == "long-run variance"


def test_parts_and_pairs_add_up_to_the_whole() -> None:
    section = variance.answer(context(CHAIN, chain(), loss=LOSS))
    assert section is not None
    parts = sum(part["amount"]["value"] for part in section.data["parts"])
    assert parts + section.data["together"]["value"] == pytest.approx(section.data["total"]["value"], rel=1e-9)
    assert section.data["sum_error"] < 1e-9


def test_a_change_of_level_is_told_with_the_question_to_ask() -> None:
    signals = {name: np.concatenate([levels, levels + 10]) for name, levels in chain(300).items()}
    section = variance.answer(context(CHAIN, signals, loss=LOSS))
    assert section is not None
    (change,) = section.data["changes"]
    assert change["time"] == 3000
    assert change["after"] - change["before"] == pytest.approx(10, abs=0.2)
    assert lines(section)[-1].endswith(": --against 0..3000 --window 3000..6000")
    already = variance.answer(context(CHAIN, signals, loss=LOSS, against=(0.0, 3000.0)))
    assert not any(line.startswith("to tell") for line in lines(already))


def test_a_level_that_stays_is_said_to_stay() -> None:
    assert lines(variance.answer(context(CHAIN, chain(), loss=LOSS))) == ["no change of its level is seen"]


def test_what_is_no_sum_of_signals_is_not_split() -> None:
    section = variance.answer(context(CHAIN, chain(), loss="trainer.step_time * disk.reads"))
    assert lines(section) == ["refused: it is not a sum of signals, and the variance of anything else is not split"]


def test_nothing_is_told_without_a_loss() -> None:
    assert variance.answer(context(CHAIN, chain())) is None
