"""How far a model looks back, and where its windows are cut."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Name
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.lookback import (
    Lookback,
    Reads,
    durations,
    longest_streak,
    look_backs,
    lookback_of,
    refuse_lost_streaks,
    trees_of,
)

LOOP = '  l: {{timescale: {{period: 10 s}}, rules: [{{when: "{when}", to: 1}}], actuation: {{signal: a.u, from: 0}}}}\n'


def model(when: str) -> Model:
    parts = '  a: {u: 0, lag: 3 s, state: "x\' = (a.u - 1) / 1 s", from: 0}\n'
    return elaborate(read_text(f"coherence: 1\ncomponents:\n{parts}loops:\n{LOOP.format(when=when)}"))


def test_the_expressions_of_a_model_are_gathered_once() -> None:
    own = model("mean_over(a.x, 5 s) > 0")
    assert trees_of(own) is trees_of(own)
    assert look_backs(own) is look_backs(own)


def test_a_model_that_reads_only_now_remembers_nothing() -> None:
    lookback = lookback_of(model("a.x > 0"), {})
    assert (lookback.horizon, lookback.watched) == (None, ())


@pytest.mark.parametrize(
    ("when", "calls", "horizon"),
    [
        ("delayed(a.x, 4 s) > 0", [("delayed", 4)], 4),
        ("mean_over(a.x, 30 s) > 0", [("mean_over", 30)], 30),
        ("mean_over(delayed(a.x, 4 s), 30 s) > 0", [("mean_over", 30), ("delayed", 4)], 34),
    ],
)
def test_the_horizon_is_the_sum_of_all_that_looks_back(when: str, calls: list[tuple[str, int]], horizon: int) -> None:
    made = model(when)
    assert sorted(look_backs(made)) == sorted((name, Fraction(seconds)) for name, seconds in calls)
    assert lookback_of(made, {}).horizon == horizon


def test_a_delayed_window_is_cut_after_instants_plus_the_delay_and_nowhere_else() -> None:
    lookback = lookback_of(model("mean_over(delayed(a.x, 4 s), 30 s) > 0"), {"a.x": Fraction(0)})
    (tree,) = lookback.watched
    assert lookback.of_windows[tree] == Reads(frozenset({Fraction(4)}), frozenset())
    past = [Fraction(0), Fraction(10), Fraction(20)]
    assert lookback.cuts(tree, Fraction(4), Fraction(24), past) == [14]
    assert lookback.cuts(tree, Fraction(3), Fraction(25), past) == [4, 14, 24]


def test_a_scraped_window_is_cut_at_multiples_of_the_period_and_its_delay() -> None:
    tree, nothing = Name("a.x"), Reads(frozenset(), frozenset())
    scraped = Reads(frozenset(), frozenset({(Fraction(7), Fraction(2))}))
    lookback = Lookback(Fraction(30), (tree,), nothing, {tree: scraped}, {})
    assert lookback.cuts(tree, Fraction(9), Fraction(31), []) == [16, 23, 30]
    assert lookback.cuts(tree, Fraction(8), Fraction(30), []) == [9, 16, 23]


def test_a_delay_by_a_constant_makes_it_a_duration() -> None:
    made = model("delayed(a.x, a.lag) > 0")
    assert durations(made) == {"a.lag"}
    assert lookback_of(made, {"a.lag": Fraction(3)}).horizon == 3
    with pytest.raises(NotExactError, match="a delay or window must be a constant"):
        lookback_of(made, {})


def test_the_longest_streak_is_that_of_all_conditions() -> None:
    assert longest_streak(model("a.x > 0")) == 0
    assert longest_streak(model("a.x > 0 for 20 s")) == 20


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("previous(a.x) + delayed(previous(a.x), 2 s) > 1", "at two ages"),
        ("(a.x > 1 for 9 s) and delayed(a.x > 1 for 9 s, 2 s)", "at two ages"),
        ("delayed(previous(a.x), 2 s) + delayed(previous(a.x), 4 s) > 1", "at two ages"),
        ("mean_over(previous(a.x), 5 s) > 0", "inside a window"),
    ],
)
def test_what_counts_samples_is_read_at_one_age_in_a_loop(when: str, why: str) -> None:
    with pytest.raises(NotExactError, match=why):
        refuse_lost_streaks(model(when))


@pytest.mark.parametrize(
    "when",
    [
        "previous(a.x) + previous(a.x) > 1",
        "delayed(previous(a.x) + a.x, 2 s) + 3 * delayed(previous(a.x), 2 s) > 1",
        "previous(a.x) + previous(delayed(a.x, 2 s)) > 1",
        "previous(mean_over(a.x, 5 s)) > mean_over(a.x, 5 s)",
    ],
)
def test_what_counts_samples_at_one_age_is_carried(when: str) -> None:
    refuse_lost_streaks(model(when))
