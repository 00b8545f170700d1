"""What signals would be if some were set: the fitted slopes carry the change, and the loss comes first."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import queries
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables
from tests.causal.systems import steady_slopes

LOSS = "trainer.step_time"


def test_what_is_set_carries_through_the_slopes() -> None:
    signals = chain()
    reads, wait, step_time = signals.values()
    (first,), (second,) = steady_slopes(wait, reads), steady_slopes(step_time, wait)
    reads, wait, step_time = reads[2:], wait[2:], step_time[2:]  # the first two have no past
    section = queries.answer(context(CHAIN, signals, loss=LOSS, do={"disk.reads": 1.0}))
    assert section is not None
    levels = {one["signal"]: one["level"]["value"] for one in section.data["signals"]}
    fall = 1 - reads.mean()
    assert levels == {
        "disk.reads": pytest.approx(1.0),
        "loader.wait": pytest.approx(wait.mean() + first * fall),
        LOSS: pytest.approx(step_time.mean() + first * second * fall),
    }
    assert section.title == "If disk.reads were 1"
    assert tables(section)[0].rows[0][0] == LOSS


def test_what_is_set_in_the_middle_leaves_its_causes_as_they_were() -> None:
    signals = chain()
    section = queries.answer(context(CHAIN, signals, do={"loader.wait": 4.0}))
    assert section is not None
    levels = {one["signal"]: one["level"]["value"] for one in section.data["signals"]}
    assert levels["disk.reads"] == pytest.approx(signals["disk.reads"][2:].mean())
    assert [row[0] for row in tables(section)[0].rows] == ["loader.wait", LOSS]  # what moves, and nothing else


def test_several_signals_are_set_at_once() -> None:
    section = queries.answer(context(CHAIN, chain(), do={"disk.reads": 1.0, "loader.wait": 4.0}))
    assert section is not None
    assert section.title == "If disk.reads were 1, loader.wait were 4"
    levels = {one["signal"]: one["level"]["value"] for one in section.data["signals"]}
    assert (levels["disk.reads"], levels["loader.wait"]) == (pytest.approx(1), pytest.approx(4))
    assert section.data["do"] == {"disk.reads": 1.0, "loader.wait": 4.0}


def test_what_only_a_sum_is_known_of_cannot_be_set_apart() -> None:
    rng = np.random.default_rng(0)
    x = 5 + rng.normal(0, 1, 400)
    design = "coherence: 1\ncomponents: {a: {out: x.level * k + y.level * m, k: 0 .. 10, m: 0 .. 10}}\n"
    signals = {"x.level": x, "y.level": 3 * x, "a.out": 2 * x + rng.normal(0, 0.1, 400)}
    section = queries.answer(context(design, signals, do={"x.level": 1.0}))
    assert [row[0] for row in tables(section)[0].rows] == ["x.level"]
    assert lines(section) == ["a.out: cannot be told, for x.level and y.level move together exactly"]


def test_nothing_is_told_where_nothing_is_set() -> None:
    assert queries.answer(context(CHAIN, chain(), loss=LOSS)) is None
