"""Root causes of an incident: the one that was put in comes first, and chance and simple rules stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.sections import ranking
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables

LOSS = "trainer.step_time"
INCIDENT = (5000.0, 5390.0)


def incident(where: str, by: float = 20.0) -> dict[str, np.ndarray]:
    """A chain in which one signal is higher of its own for 400 s."""
    rng = np.random.default_rng(4)
    jump = np.zeros(600)
    jump[500:540] = by
    reads = 5 + rng.normal(0, 1, 600) + jump * (where == "disk.reads")
    wait = 2 * reads + rng.normal(0, 0.2, 600) + jump * (where == "loader.wait")
    return {
        "disk.reads": reads,
        "loader.wait": wait,
        LOSS: 1.5 * wait + rng.normal(0, 0.2, 600) + jump * (where == LOSS),
    }


@pytest.mark.parametrize(("where", "excess"), [("disk.reads", 3 * 20.0), ("loader.wait", 1.5 * 20), (LOSS, 20.0)])
def test_the_signal_that_jumped_is_the_first_cause(where: str, excess: float) -> None:
    section = ranking.answer(context(CHAIN, incident(where), rank=LOSS, window=INCIDENT))
    assert section is not None
    assert section.data["causes"][0]["cause"] == where
    assert section.data["causes"][0]["share"] == pytest.approx(1, abs=0.05)
    assert section.data["excess"] == pytest.approx(excess, rel=0.1)
    assert tables(section)[0].rows[0][0] == f"1. {where}"
    assert "over 116 windows of what was before it" in lines(section)[0]


def test_a_stretch_of_its_own_is_the_normal_time() -> None:
    signals = incident("disk.reads")
    section = ranking.answer(context(CHAIN, signals, rank=LOSS, window=INCIDENT, against=(0.0, 3000.0)))
    assert lines(section)[0].endswith("windows of the stretch of --against")


def test_chance_is_counted_over_the_target_and_all_behind_it() -> None:
    section = ranking.answer(context(CHAIN, incident("disk.reads"), rank="loader.wait", window=INCIDENT))
    assert section is not None
    assert section.data["candidates"] == 2
    assert section.data["chance"]["first 1"] == pytest.approx(1 / 2)
    assert "chance has the cause among the first 1 of 2 in 50 %" in lines(section)[-1]


def test_without_an_incident_a_cause_is_found_as_rarely_as_its_p_says() -> None:
    alarms = 0
    for seed in range(12):
        section = ranking.answer(context(CHAIN, chain(600, seed), rank=LOSS, window=INCIDENT))
        assert section is not None
        alarms += section.data["found"]
        assert section.data["found"] == (section.data["p"] <= 0.05)
        assert bool(section.data["causes"]) == section.data["found"] == bool(tables(section))
        assert lines(section)[0].startswith("no cause found: ") != section.data["found"]
    assert alarms <= 2


def test_what_is_behind_a_target_is_all_that_can_reach_it() -> None:
    causes = {"d": ("b", "c"), "b": ("a",), "c": ("a", "d"), "e": ("d",)}
    assert ranking._behind(causes, "d") == ["d", "b", "c", "a"]
    assert ranking._behind(causes, "a") == ["a"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rank": LOSS}, "--rank needs --window"),
        ({"rank": "loader.wai", "window": INCIDENT}, "did you mean 'loader.wait'"),
    ],
)
def test_a_wrong_question_is_told_with_its_remedy(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ranking.answer(context(CHAIN, chain(600), **settings))


def test_a_window_without_normal_time_is_refused() -> None:
    section = ranking.answer(context(CHAIN, chain(600), rank=LOSS, window=(0.0, 300.0)))
    assert lines(section)[0].startswith("refused: 0 normal")


def test_nothing_is_told_where_no_ranking_is_asked_for() -> None:
    assert ranking.answer(context(CHAIN, chain())) is None
