"""The fitted influences: strengths are slopes, delays are in seconds, and what cannot be told has no number."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import influences
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables
from tests.causal.systems import steady_slopes

SUM = """coherence: 1
components:
  a: {out: x.level * k + y.level * m, k: 0 .. 10, m: 0 .. 10}
"""


def test_the_strength_of_each_influence_is_its_slope() -> None:
    signals = chain()
    reads, wait, step_time = signals.values()
    section = influences.answer(context(CHAIN, signals))
    assert section is not None
    strengths = {one["effect"]: one["strength"]["value"] for one in section.data["influences"]}
    assert strengths == {
        "loader.wait": pytest.approx(steady_slopes(wait, reads)[0]),
        "trainer.step_time": pytest.approx(steady_slopes(step_time, wait)[0]),
    }
    assert all(
        one["strength"]["low"] < one["strength"]["value"] < one["strength"]["high"]
        for one in section.data["influences"]
    )
    assert (section.data["rows"], section.data["rows_lost"]) == (398, 0)
    assert lines(section)[0] == "fitted on 398 rows of 10 s in 10 batches"


def test_rows_without_a_value_are_left_out_and_counted() -> None:
    signals = chain()
    signals["disk.reads"][10:15] = np.nan
    section = influences.answer(context(CHAIN, signals))
    assert section is not None
    assert lines(section)[0].endswith("; 7 left out because a value was missing")
    assert (section.data["rows"], section.data["rows_lost"]) == (391, 7)  # two more have no past


def test_a_delay_is_told_in_seconds() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, 500)
    late = np.concatenate([rng.normal(0, 1, 3), 2 * x[:-3]]) + rng.normal(0, 0.1, 500)
    design = "coherence: 1\ncomponents: {a: {out: 'delayed(x.level, 30 s) * k', k: 0 .. 10}}\n"
    section = influences.answer(context(design, {"x.level": x, "a.out": late}))
    (row,) = tables(section)[0].rows
    assert row[:3] == ("x.level", "a.out", "30 s")
    assert section is not None
    assert section.data["influences"][0]["delay_s"] == 30
    assert section.data["influences"][0]["strength"]["value"] == pytest.approx(2, abs=0.1)


def test_what_does_nothing_is_not_seen() -> None:
    rng = np.random.default_rng(5)
    x, y = 5 + rng.normal(0, 1, 400), 5 + rng.normal(0, 1, 400)
    section = influences.answer(context(SUM, {"x.level": x, "y.level": y, "a.out": 2 * x + rng.normal(0, 1, 400)}))
    assert {row[0]: row[5] for row in tables(section)[0].rows} == {"x.level": "yes", "y.level": "no"}


def test_causes_that_move_together_have_no_strength_of_their_own() -> None:
    rng = np.random.default_rng(0)
    x = 5 + rng.normal(0, 1, 400)
    signals = {"x.level": x, "y.level": 3 * x, "a.out": 2 * x + rng.normal(0, 0.1, 400)}
    section = influences.answer(context(SUM, signals))
    assert [row[3:] for row in tables(section)[0].rows] == [("not told", "", "", "their sum alone")] * 2
    assert "a.out: x.level, y.level move together; only their sum is told" in lines(section)
    assert section is not None
    assert [(one["told"], one["strength"]) for one in section.data["influences"]] == [(False, None)] * 2


def test_a_term_that_no_column_has_is_said_to_be_a_constant() -> None:
    design = """coherence: 1
components:
  a: {out: x.level * k + base.load, k: 0 .. 10}
  b: {out: x.level * m + base.load, m: 0 .. 10}
  base: {load: 0 .. 5}
"""
    rng = np.random.default_rng(0)
    x = 5 + rng.normal(0, 1, 400)
    section = influences.answer(context(design, {"x.level": x, "a.out": 2 * x + 1, "b.out": 3 * x + 1}))
    assert section is not None
    assert section.data["taken_as_constant"] == {"base.load": ["a.out", "b.out"]}
    assert lines(section)[-2] == "base.load in a.out, b.out: taken as a constant, for no column has it"
    assert lines(section)[-1].startswith("  if base.load moves, it hides between a.out and b.out")


def test_without_both_ends_of_an_influence_the_missing_columns_are_named() -> None:
    section = influences.answer(context(CHAIN, {"disk.reads": chain()["disk.reads"]}))
    (line,) = lines(section)
    assert line.endswith("signals of the design without a column: loader.wait, trainer.step_time")


def test_a_signal_that_is_left_out_has_a_column() -> None:
    signals = {"disk.reads": chain()["disk.reads"], "loader.wait": np.full(len(chain()["disk.reads"]), np.nan)}
    (line,) = lines(influences.answer(context(CHAIN, signals)))
    assert line.endswith("signals of the design without a column: trainer.step_time; left out: loader.wait")
