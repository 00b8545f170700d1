"""Pictures of amounts: where each bar begins and ends, which colour it has, which words stand beside it."""

from __future__ import annotations

import pytest

from coherence.causal.answers.intervals import Estimate
from coherence.causal.session.figures import (
    FALL,
    MOST_BARS,
    MOST_LETTERS,
    RISE,
    WHOLE,
    AmountBar,
    bars,
    shortened,
    waterfall,
)


def bar(name: str, value: float, *, whole: bool = False) -> AmountBar:
    return AmountBar(name, Estimate(value, value - 1, value + 2, 0.5), whole)


def test_a_long_name_is_cut_to_a_number_of_letters() -> None:
    assert shortened("x" * MOST_LETTERS) == "x" * MOST_LETTERS
    cut = shortened("x" * (MOST_LETTERS + 1))
    assert len(cut) == MOST_LETTERS
    assert cut[MOST_LETTERS // 2] == "…"


def test_bars_begin_at_zero_with_their_interval_as_a_line() -> None:
    panel = bars("Shares", "s", [bar("up", 3), bar("down", -4)])
    assert [(low, high, colour) for low, _, high, _, colour in panel.cells] == [(0, 3, RISE), (-4, 0, FALL)]
    assert [round(top, 9) for _, bottom, _, top, _ in panel.cells] == [-0.52, -1.52]
    assert [round(bottom, 9) for _, bottom, *_ in panel.cells] == [-0.82, -1.82]
    ends = [(line.points[0][0], line.points[1][0]) for line in panel.lines]
    assert ends == [(2, 5), (-5, -2)]
    assert [round(y, 9) for line in panel.lines for _, y in line.points] == [-0.67, -0.67, -1.67, -1.67]
    assert [(x, round(y, 9), words) for x, y, _, words in panel.texts] == [
        (-5.0, -0.18, "up  3"), (-5.0, -1.18, "down  -4"),
    ]  # fmt: skip
    assert panel.title == "Shares"


def test_no_more_bars_than_fit_are_drawn_and_the_last_one_stays() -> None:
    many = [bar(f"b{n}", 20 - n) for n in range(MOST_BARS + 3)]
    shares = bars("", "", [*many, bar("unexplained", 1)])
    assert len(shares.cells) == MOST_BARS
    names = [words.rpartition("  ")[0] for *_, words in shares.texts]
    assert names[-2:] == ["5 others", "unexplained"]
    drawn = sum(low + high for low, _, high, *_ in shares.cells)
    assert drawn == pytest.approx(sum(one.amount.value for one in many) + 1)  # nothing is left out of the sum


def test_a_long_waterfall_keeps_both_of_its_ends() -> None:
    steps = [bar(f"b{n}", 1) for n in range(MOST_BARS + 3)]
    panel = waterfall("", "", [bar("before", 4, whole=True), *steps, bar("after", 4 + len(steps), whole=True)])
    assert len(panel.cells) == MOST_BARS
    assert panel.cells[-1][0] == 0
    assert panel.cells[-2][2] == pytest.approx(panel.cells[-1][2])  # the steps end where the level is


def test_each_step_of_a_waterfall_begins_where_the_last_one_ended() -> None:
    panel = waterfall("", "", [bar("before", 10, whole=True), bar("a", -4), bar("b", 1), bar("after", 7, whole=True)])
    assert [(low, high, colour) for low, _, high, _, colour in panel.cells] == [
        (0, 10, WHOLE), (6, 10, RISE), (6, 7, FALL), (0, 7, WHOLE),
    ]  # fmt: skip
    assert [words for *_, words in panel.texts] == ["before  10", "a  -4", "b  1", "after  7"]
